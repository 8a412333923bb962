"""Families of genes: who is in, and who only has a name like it."""

from __future__ import annotations

import re

import pytest

from glfs_bio._anndata.names import PATTERNS, SOURCES, family

IN = {
    "mitochondrial": "MT-ND1 mt-Nd1 MT-RNR2 ENSG00000198888 ENSMUSG00000064341 ENSG00000198727.2",
    "ribosomal": "RPS3 Rps3 RPLP0 RPSA RPS4Y1 RPL36AL RPS27A RPL13AP5 Rpl13a-ps1 FAU Uba52",
    "haemoglobin": "HBA1 HBA2 HBB HBG2 HBM HBZ HBQ1 Hba-a1 Hbb-bs Hbb-b1 Hbq1b",
    "tcr": "TRAC TRBC1 TRGC2 TRDC TRAV1-2 TRBV20-1 TRDJ1 TRGV9 TRAJ33 Trac Trbv19 Tcrg-C1",
    "bcr": "IGHM IGHD IGHE IGHA1 IGHG4 IGKC IGLC2 IGHV3-23 IGKV1-5 IGLV2-14 IGHJ4 Ighm Ighg2c",
    "sex": "XIST TSIX DDX3Y RPS4Y1 KDM5D Xist Eif2s3y Ddx3y ENSG00000229807",
    "cell_cycle": "MKI67 TOP2A PCNA MCM5 Mki67 PIMREG FAM64A JPT1 HN1 CENPU MLF1IP",
    "heat_shock": "HSPA1A HSPA8 HSP90AA1 HSP90B1 HSPB1 HSPD1 HSPE1 HSPH1 DNAJB1 Hspa1b",
    "dissociation": "FOS Fos JUNB EGR1 HSPA1A Cyr61 CCN1 Ccrn4l NOCT MT2A Mt1 H3F3B H3-3B",
}
OUT = {
    "mitochondrial": "MT1X MTOR MTCH2 ENSG00000141510",
    "ribosomal": "RPS6KA1 Rps6kb1 RPS19BP1 MRPL12 RPSA-AS1 RPL34-DT RPS10-NUDT3 RPP40",
    "haemoglobin": "HBEGF HBS1L HBP1 Hbegf HB",
    "tcr": "TRADD TRAF2 TRAPPC1 TRDN TRDMT1 TRABD TRA2A TRAM1 TRAT1 TRD-AS1 TRAK1 TRANK1",
    "bcr": "IGHMBP2 IGLL1 IGLL5 IGLON5 IGF1 IGFBP3 Ighmbp2",
    "sex": "DDX3X RPS4X ZFX UTX",
    "cell_cycle": "GAPDH CCND1",
    "heat_shock": "HSPG2 HSPBP1 HSPBAP1 HSF1 DNAJC1 HSPE1-MOB4 DNAJA2-DT",
    "dissociation": "GAPDH FOSL1 MT1X",
}


@pytest.mark.parametrize("name", SOURCES)
def test_members(name):
    members = family(name)
    assert [gene for gene in IN[name].split() if gene not in members] == []
    assert [gene for gene in OUT[name].split() if gene in members] == []


@pytest.mark.parametrize("name", SOURCES)
def test_every_family_has_a_source_and_ids_of_both_species(name):
    members = family(name)
    assert re.search(r"\((19|20)\d\d\)|HGNC", SOURCES[name])
    kinds = {re.fullmatch(r"(ENSG|ENSMUSG)\d{11}", gene)[1] for gene in members.ids}
    assert kinds == {"ENSG", "ENSMUSG"}


def test_every_pattern_is_of_a_family():
    assert set(PATTERNS) < set(SOURCES)


def test_ids_and_symbols_agree(real):
    """On blood cells with both; only the id tells a gene whose name was that of a clone."""
    var = real("pbmc3k_2638").var
    pairs = list(zip(var.index, var["gene_ids"].astype(str), strict=True))
    for name in SOURCES:
        members = family(name)
        by_symbol = {symbol for symbol, _ in pairs if symbol in members}
        by_id = {symbol for symbol, ensembl in pairs if ensembl in members}
        assert by_symbol <= by_id
        assert all(re.search(r"\.\d+$", symbol) for symbol in by_id - by_symbol)
        assert by_symbol or name in {"tcr", "bcr"}  # this annotation has no segments


def test_the_size_of_what_is_known():
    assert len({gene for gene in family("mitochondrial").ids if "MUS" in gene}) == 37
    assert len({gene for gene in family("mitochondrial").ids if "MUS" not in gene}) == 37
