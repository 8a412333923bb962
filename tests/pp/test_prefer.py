"""Genes that are preferred, and families that few panels are meant to have."""

from __future__ import annotations

import pytest
import scanpy as sc

import glfs_bio
from glfs_bio import Limits

PREFERRED = ["CD8A", "CD4", "IL7R", "GZMK", "MS4A1", "CD14", "GNLY", "no such gene"]


@pytest.fixture(scope="module")
def blood():
    """Blood cells with a panel of 40."""
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    glfs_bio.pp.select_genes(adata, 40)
    return adata


def n_preferred(adata, key):
    """Number of genes of a selection that are preferred."""
    return int(adata.var_names[adata.var[f"{key}_selected"]].isin(PREFERRED).sum())


def test_preferred_genes_enter_where_they_cost_little(blood):
    glfs_bio.pp.select_genes(blood, 40, prefer=PREFERRED, key_added="preferring")
    assert n_preferred(blood, "preferring") > n_preferred(blood, "glfs")
    best, preserved = (blood.uns[key]["preserved"] for key in ("glfs", "preferring"))
    assert (preserved >= 0.9979 * best).all()


def test_families_are_preferred(blood):
    glfs_bio.pp.select_genes(blood, 40, prefer="common_markers", key_added="marked")
    assert blood.uns["marked"]["preserved"][-1] >= 0.9979 * blood.uns["glfs"]["preserved"][-1]
    assert not blood.var["marked_selected"].equals(blood.var["glfs_selected"])


@pytest.mark.parametrize(
    "options",
    [
        {"search": "best"},
        {"method": "variance"},
        {"limits": Limits(per_type=1, groupby="bulk_labels")},
    ],
)
def test_prefer_is_of_nested_panels_by_the_criterion(blood, options):
    with pytest.raises(ValueError, match="prefer"):
        glfs_bio.pp.select_genes(blood, 12, prefer=["CD4"], inplace=False, **options)


def test_families_that_fill_a_panel_are_counted(blood, caplog):
    adata = blood.copy()
    names = ["RPS3", "RPL3", "EEF1A1", "CD3X"]
    adata.var_names = [*names, *(f"other {number}" for number in range(len(names), adata.n_vars))]
    glfs_bio.pp.select_genes(adata, 8, include=names, inplace=False)
    assert "ribosomal" not in caplog.text  # they were asked for
    glfs_bio.pp.select_genes(adata, 4, exclude=list(adata.var_names[4:]), inplace=False)
    assert "2 ribosomal, 1 translation" in caplog.text
