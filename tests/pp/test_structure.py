"""What is kept of the structure is what is computed."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pytest
from refusals import refused

from glfs_bio import pp, tl
from glfs_bio._anndata import structure as structures
from glfs_bio.errors import InvalidType, InvalidValue, NotFound
from glfs_bio.pp._structure import compute

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]


def kept(adata, **options):
    found = tl.explain_panel(adata, PANEL, inplace=False, **options)
    return found[["kept", "loss", "lost"]].to_numpy()


@pytest.mark.parametrize("ending", ["h5ad", "zarr"])
def test_it_is_the_same_in_a_file(pbmc, tmp_path, ending):
    computed = kept(pbmc)
    pp.structure(pbmc)
    np.testing.assert_array_equal(kept(pbmc), computed)
    path = tmp_path / f"x.{ending}"
    (pbmc.write_h5ad if ending == "h5ad" else pbmc.write_zarr)(path)
    again = (ad.read_h5ad if ending == "h5ad" else ad.read_zarr)(path)
    assert structures.load(again, "glfs_structure") is not None
    np.testing.assert_array_equal(kept(again), computed)


def test_batches_have_a_subspace_each(pbmc):
    pbmc.obs["batch"] = np.tile(["a", "b"], 350)
    options = {"batch_key": "batch", "n_comps": 10}
    computed = compute(pbmc, options).criterion
    pp.structure(pbmc, **options, key_added="other")
    stored = structures.load(pbmc, "other")
    assert [len(rows) for rows in stored.cells] == [350, 350]
    genes = np.arange(5)
    np.testing.assert_array_equal(stored.criterion.kept(genes), computed.kept(genes))
    for block in range(2):
        np.testing.assert_array_equal(stored.criterion.cells(block), computed.cells(block))


def test_a_selection_has_the_same_scale(pbmc):
    """``kept`` of the selection is what the workbench says of it."""
    pp.select_genes(pbmc, 8, lambda1=30.0, n_comps=20)
    told = tl.evaluate_panel(pbmc, "glfs", inplace=False, show_progress=False)["kept"]
    assert told == pytest.approx(pbmc.uns["glfs"]["kept"][-1], rel=1e-9)


def test_another_matrix_is_not_taken_for_it(pbmc, caplog):
    pp.structure(pbmc)
    before = kept(pbmc)
    pbmc.X = pbmc.X * 2.0 + (pbmc.X > 1)
    changed = kept(pbmc)
    assert "another one" in caplog.text
    assert not np.allclose(changed, before)
    del pbmc.uns["glfs_structure"]
    np.testing.assert_array_equal(changed, kept(pbmc))


def test_genes_that_are_left_out(pbmc):
    pbmc.var["some"] = np.arange(pbmc.n_vars) % 2 == 0
    pp.structure(pbmc, mask_var="some")
    inside, outside = pbmc.var_names[[0, 2, 4]], pbmc.var_names[[1]]
    assert len(tl.explain_panel(pbmc, inside, inplace=False)) == 3
    with refused(InvalidValue, "panel"):
        tl.explain_panel(pbmc, [*inside, *outside], inplace=False)


def test_bad_input_changes_nothing(pbmc):
    for options, kind in [
        ({"lambda1": -1.0}, InvalidValue),
        ({"layer": "none"}, NotFound),
        ({"batch_key": "none"}, NotFound),
        ({"key_added": ""}, InvalidValue),
        ({"standardize": "no"}, InvalidValue),
    ]:
        with refused(kind, *options):
            pp.structure(pbmc, **options)
    assert "glfs_structure" not in pbmc.uns
    pbmc.uns["glfs_structure"] = {"something": "else"}
    with refused(NotFound, "structure_key"):
        kept(pbmc)


def test_cells_in_a_file(pbmc, tmp_path):
    """Extending and explaining read the cells as they go; judging them needs them in memory."""
    expected = tl.extend_panel(pbmc, PANEL, 4, inplace=False)
    pbmc.write_h5ad(tmp_path / "x.h5ad")
    backed = ad.read_h5ad(tmp_path / "x.h5ad", backed="r")
    pp.structure(backed)
    found = tl.extend_panel(backed, PANEL, 4, inplace=False)
    assert list(found["gene"]) == list(expected["gene"])
    np.testing.assert_allclose(found["kept"], expected["kept"], rtol=1e-9)
    with refused(InvalidType, "X"):
        tl.evaluate_panel(backed, PANEL, show_progress=False)
    backed.file.close()
