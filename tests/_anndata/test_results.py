from __future__ import annotations

import anndata as ad
from refusals import refused

from glfs_bio import pp, tl
from glfs_bio._anndata import results
from glfs_bio.errors import InvalidValue


def test_results_of_a_panel_are_under_its_key_and_the_last_is_known(pbmc, tmp_path):
    pbmc = pbmc[::2, ::4].copy()
    pp.select_genes(pbmc, 5)
    pp.select_genes(pbmc, 8, key_added="mine")
    for key in ("glfs", "mine"):
        tl.evaluate_panel(pbmc, key, "bulk_labels", n_random=0)
        tl.explain_panel(pbmc, key)
        tl.substitutes(pbmc, key)
        tl.markers(pbmc, key, "bulk_labels")
        tl.order_panel(pbmc, key)
        tl.extend_panel(pbmc, key, 1)
    for kind, more in (("evaluation", 0), ("extended", 1)):
        assert pbmc.uns[f"glfs_{kind}"]["n_genes"] == 5 + more
        assert pbmc.uns[f"mine_{kind}"]["n_genes"] == 8 + more
    for kind in ("explanation", "substitutes", "order", "markers"):
        assert {f"glfs_{kind}", f"mine_{kind}"} <= set(pbmc.uns)
    assert results.last(pbmc, "evaluation") == "mine_evaluation"
    tl.evaluate_panel(pbmc, "glfs", n_random=0)
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    for adata in (pbmc, ad.read_h5ad(tmp_path / "cells.h5ad")):
        assert results.last(adata, "evaluation") == "glfs_evaluation"
        assert results.last(adata, "evaluation", holds="per_label") == "mine_evaluation"


def test_keys_of_other_results_are_refused(pbmc, unchanged):
    pp.select_genes(pbmc, 5)
    tl.curve(pbmc, 5, key_added="zeta")
    with unchanged(pbmc):
        for key in ("glfs_structure", "glfs_all_genes", "glfs_evaluation", "zeta"):
            with refused(InvalidValue, "key_added"):
                pp.select_genes(pbmc, 5, key_added=key)
        with refused(InvalidValue, "key_added"):
            tl.evaluate_panel(pbmc, "glfs", key_added="glfs")
