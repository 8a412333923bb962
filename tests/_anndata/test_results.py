from __future__ import annotations

import anndata as ad
import pytest
from refusals import refused

from glfs_bio import pp, tl
from glfs_bio._anndata import results
from glfs_bio.errors import InvalidValue


def test_results_of_a_panel_are_under_its_key(pbmc):
    pp.select_genes(pbmc, 5)
    pp.select_genes(pbmc, 8, key_added="mine")
    for key in ("glfs", "mine"):
        tl.evaluate_panel(pbmc, key, "bulk_labels", n_random=0)
        tl.explain_panel(pbmc, key)
        tl.substitutes(pbmc, key)
        tl.markers(pbmc, key, "bulk_labels")
        tl.order_panel(pbmc, key)
        tl.extend_panel(pbmc, key, 1)
    for kind, size in (("evaluation", "n_genes"), ("extended", "n_genes")):
        more = int(kind == "extended")
        assert pbmc.uns[f"glfs_{kind}"][size] == 5 + more
        assert pbmc.uns[f"mine_{kind}"][size] == 8 + more
    for kind in ("explanation", "substitutes", "order", "markers"):
        assert {f"glfs_{kind}", f"mine_{kind}"} <= set(pbmc.uns)
    assert results.last(pbmc, "evaluation") == "mine_evaluation"
    tl.evaluate_panel(pbmc, "glfs", n_random=0)
    assert results.last(pbmc, "evaluation") == "glfs_evaluation"
    assert results.last(pbmc, "evaluation", holds="per_label") == "mine_evaluation"


def test_what_was_written_last_is_known_after_a_file(pbmc, tmp_path):
    pp.select_genes(pbmc, 5, key_added="zeta")
    tl.explain_panel(pbmc, "zeta")
    tl.explain_panel(pbmc, ["LYZ", "CD3D"], key_added="alpha")
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    again = ad.read_h5ad(tmp_path / "cells.h5ad")
    assert results.last(again, "explanation") == "alpha"


@pytest.mark.parametrize("key", ["glfs_structure", "glfs_all_genes", "glfs_evaluation", "zeta"])
def test_keys_of_other_results_are_refused(pbmc, key):
    pp.select_genes(pbmc, 5)
    tl.curve(pbmc, 5, key_added="zeta")
    before = pbmc.uns["zeta"]
    with refused(InvalidValue, "key_added"):
        pp.select_genes(pbmc, 5, key_added=key)
    assert pbmc.uns["zeta"] is before
    with refused(InvalidValue, "key_added"):
        tl.evaluate_panel(pbmc, "glfs", key_added="glfs")
