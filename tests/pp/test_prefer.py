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
    recorded = glfs_bio.tl.extend_panel(blood, "preferring", 42, inplace=False)
    assert len(recorded) == 2


def test_preferred_genes_are_taken_within_limits_and_families(blood):
    limits = Limits(groups={"all": list(blood.var_names)}, per_group=(0, 40))
    for prefer in (PREFERRED, "common_markers"):
        options = {"prefer": prefer, "limits": limits, "key_added": "limited"}
        glfs_bio.pp.select_genes(blood, 40, **options)
        assert n_preferred(blood, "limited") >= n_preferred(blood, "glfs")


@pytest.mark.parametrize("options", [{"search": "best"}, {"method": "variance"}])
def test_prefer_is_of_nested_panels_by_the_criterion(blood, options):
    with pytest.raises(ValueError, match="prefer"):
        glfs_bio.pp.select_genes(blood, 5, prefer=["CD4"], inplace=False, **options)


def test_families_that_fill_a_panel_are_counted(blood, caplog):
    names = ["RPS3", "RPL3", "EEF1A1", *blood.var_names[3:]]
    adata = blood.copy()
    adata.var_names = names
    glfs_bio.pp.select_genes(adata, 8, include=names[:3], inplace=False)
    assert "ribosomal" not in caplog.text  # they were asked for
    barred = [name for name in names[3:] if name not in names[:3]]
    glfs_bio.pp.select_genes(adata, 3, exclude=barred, inplace=False)
    assert "2 of 3 genes are ribosomal, 1 translation; see `ignore`" in caplog.text
