"""Genes that arguments name."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import accepted, refused
from scipy import sparse

from glfs_bio import Limits, Platform, io, pp, tl
from glfs_bio._anndata import names as genes
from glfs_bio._anndata.names import FAMILIES, family, is_member, members
from glfs_bio.errors import Caution, FileMissing, InvalidType, InvalidValue, NotFound, Refusal
from glfs_bio.options import Request

SYMBOLS = ["MT-ND1", "MT-CYB", "CD3D", "CD8A", "TBCE", "TBCE", "HLA-DRA", None]
IDS = ["ENSG00000198888", "ENSG00000198727", *(f"ENSG9999999999{i}" for i in range(6))]


def cells(names, **columns):
    return ad.AnnData(np.ones((2, len(names))), var=pd.DataFrame(columns, index=names))


@pytest.fixture
def by_id():
    return cells(IDS, symbol=SYMBOLS)


@pytest.fixture
def by_symbol():
    names = ["MT-ND1", "MT-CYB", "CD3D", "CD8A", "TBCE", "RPS3", "HLA-DRA", "sex"]
    return cells(names, mine=np.arange(8) < 2, ribosomal=np.arange(8) == 3, cell_cycle="G1")


def rows(adata, asked, **options):
    return list(np.flatnonzero(genes.choose(adata, Request(include=asked, **options)).included))


def excluded(adata, asked):
    return list(np.flatnonzero(~genes.choose(adata, Request(exclude=asked)).allowed))


def test_names_patterns_columns_families(by_symbol):
    by_symbol.var["some"] = pd.array([True, None, False] + [None] * 5, dtype="boolean")
    for asked, places in (
        ("CD3D", [2]),
        (["CD8A", "CD3D", "CD3D"], [2, 3]),
        (re.compile("^MT-"), [0, 1]),
        ([re.compile("^CD"), "HLA-DRA"], [2, 3, 6]),
        ("mine", [0, 1]),
        ("some", [0]),
        ("mitochondrial", [0, 1]),
        ("ribosomal", [3]),  # a column goes before a family
        ("sex", [7]),  # and a gene before both
        (pd.Index(["CD8A"]), [3]),
        (pd.Series(["CD8A"]), [3]),
        (np.array(["CD8A"]), [3]),
    ):
        assert rows(by_symbol, asked) == places, asked


def test_symbols_and_ids(by_id):
    for asked, places in (
        ("CD3D", [2]),
        ("TBCE", [4, 5]),
        (IDS[3], [3]),
        (["CD8A", IDS[2]], [2, 3]),
        (re.compile("^MT-"), [0, 1]),
        ("mitochondrial", [0, 1]),
    ):
        assert rows(by_id, asked, symbols="symbol") == places, asked
    assert rows(by_id, "mitochondrial") == [0, 1]
    assert rows(by_id, "ENSG00000198888.4") == [0]
    assert rows(cells(["ENSG00000198888.2", "ENSG00000000003.14"]), "mitochondrial") == [0]


def test_families_without_a_gene_are_told(by_symbol, caplog):
    """A column that is not boolean hides none, and none knows the ids of a fish."""
    fish = cells([f"ENSDARG0000000{i:04}" for i in range(5)])
    assert rows(by_symbol, "cell_cycle") == rows(fish, "tcr") == []
    assert "cell_cycle" in caplog.text
    assert "tcr" in caplog.text


def test_symbols_where_there_are_ids(by_id):
    for asked in ("CD3D", re.compile("^CD3")):
        with pytest.raises(Refusal) as caught:
            rows(by_id, asked)
        assert "symbols" in str(caught.value)
    with refused(NotFound, "include") as caught:
        rows(by_id, "ENSG00000000001")
    assert "symbols" not in str(caught.value)


def test_all_that_is_missing_at_once(by_symbol):
    asked = ["CD8X", "nothing", "P63", "CD3D", "mithochondrial", "CD20", re.compile("^XY")]
    with refused(NotFound, "include") as caught:
        genes.choose(by_symbol, Request(include=asked, exclude=["other", re.compile("^three")]))
    message = str(caught.value)
    names = ["CD8X", "nothing", "P63", "mithochondrial", "^XY", "other", "^three"]
    hints = ["CD8A", "CKAP4 or TP63", "CD20 is MS4A1", "mitochondrial"]
    assert [name for name in names + hints if name not in message] == []
    assert "re.compile" not in message
    with refused(NotFound, "include") as caught:  # what looks like a pattern
        rows(by_symbol, "^MT-")
    assert "re.compile" in str(caught.value)


def test_a_panel_of_names(by_symbol, by_id):
    for form in (list, tuple, pd.Index, pd.Series, np.array):
        named = genes.panel(by_symbol, form(["CD8A", "MT-ND1", "CD8A"]))
        assert list(named.genes) == [3, 0]
        assert (named.names, named.absent, named.key) == (["CD8A", "MT-ND1"], [], None)
    named = genes.panel(by_id, ["TBCE", "CD3D", IDS[2]], symbols="symbol")
    assert list(named.genes) == [4, 5, 2]  # all rows of a symbol
    assert named.names == ["TBCE", "CD3D", IDS[2]]


def test_a_panel_with_absent_genes(by_symbol):
    with refused(NotFound, "mine"):
        genes.panel(by_symbol, ["CD3D", "XX", "CD8X"], argument="mine")
    with pytest.warns(Caution):
        named = genes.panel(by_symbol, ["XX", "CD3D", "tcr"], missing="warn")
    assert (list(named.genes), named.absent) == ([2], ["XX", "tcr"])
    with refused(NotFound, "panel"):
        genes.panel(by_symbol, ["CD3D", "tcr"])
    for missing in ("raise", "warn", "ignore"):
        with refused(NotFound, "panel"):
            genes.panel(by_symbol, ["P63"], missing=missing)


def test_a_panel_in_a_column_and_of_one_gene(by_symbol, by_id):
    named = genes.panel(by_symbol, "mine")
    assert (list(named.genes), named.names, named.key) == ([0, 1], ["MT-ND1", "MT-CYB"], None)
    named = genes.panel(by_symbol, "TBCE")
    assert (list(named.genes), named.names, named.key) == ([4], ["TBCE"], None)
    assert list(genes.panel(by_id, "TBCE", symbols="symbol").genes) == [4, 5]
    by_symbol.var["sex"] = np.arange(8) == 2
    assert list(genes.panel(by_symbol, "sex").genes) == [2]  # a key goes before a gene
    by_symbol.var["none"] = False
    with refused(NotFound, "panel"):
        genes.panel(by_symbol, "none")


def test_ranked_genes_of_groups_are_a_panel(pbmc):
    """They are scanpy's own, in its example."""
    named = genes.panel(pbmc, "rank_genes_groups")
    by_group = pbmc.uns["rank_genes_groups"]["names"]
    expected = [name for group in by_group.dtype.names for name in by_group[group][:10]]
    assert named.names == list(dict.fromkeys(expected))
    assert list(pbmc.var_names[named.genes]) == named.names
    assert named.key is None
    with refused(NotFound, "panel"):
        genes.panel(pbmc, "neighbors")


def test_what_is_no_panel(by_symbol):
    for kind, panels in {
        NotFound: ["nope", "nope.csv"],
        FileMissing: [Path("nope.csv")],
        InvalidValue: [[]],
        InvalidType: [["CD3D", 5], 5, None, {"CD3D": 1}, [True, False], np.array("CD3D")],
    }.items():
        assert accepted(partial(genes.panel, by_symbol), panels, "panel", kind) == []


IN = {
    "mitochondrial": "MT-ND1 mt-Nd1 MT-RNR2 ENSG00000198888 ENSMUSG00000064341 ENSG00000198727.2 "
    "MTND1P23 MTRNR2L8 MTCO1P12 ENSG00000225972 ENSG00000255823",
    "ribosomal": "RPS3 Rps3 RPLP0 RPSA RPS4Y1 RPL36AL RPS27A RPL13AP5 Rpl13a-ps1 FAU Uba52",
    "haemoglobin": "HBA1 HBA2 HBB HBG2 HBM HBZ HBQ1 Hba-a1 Hbb-bs Hbb-b1 Hbq1b",
    "tcr": "TRAC TRBC1 TRGC2 TRDC TRAV1-2 TRBV20-1 TRDJ1 TRGV9 TRAJ33 Trac Trbv19 Tcrg-C1",
    "bcr": "IGHM IGHD IGHE IGHA1 IGHG4 IGKC IGLC2 IGHV3-23 IGKV1-5 IGLV2-14 IGHJ4 Ighm Ighg2c",
    "sex": "XIST TSIX DDX3Y RPS4Y1 KDM5D Xist Eif2s3y Ddx3y ENSG00000229807",
    "cell_cycle": "MKI67 TOP2A PCNA MCM5 Mki67 PIMREG FAM64A JPT1 HN1 CENPU MLF1IP",
    "heat_shock": "HSPA1A HSPA8 HSP90AA1 HSP90B1 HSPB1 HSPD1 HSPE1 HSPH1 DNAJB1 Hspa1b",
    "dissociation": "FOS Fos JUNB EGR1 HSPA1A Cyr61 CCN1 Ccrn4l NOCT MT2A Mt1 H3F3B H3-3B",
    "housekeeping": "EEF1A1 NACA GAPDH FTL FTH1 TMSB4X ACTB B2M Gapdh Ftl1 Eef1a1 ENSG00000111640",
    "proliferation": "MKI67 TOP2A PCNA CCNB1 CCNA2 TK1 PCLAF KIAA0101 Mki67 H2AZ1 H2AFZ STMN1",
    "cytoskeleton": "ACTB ACTG1 ACTA2 TUBB TUBA1B Tubb5 TMSB4X TMSB10 CFL1 PFN1 ARPC2 Actb",
    "translation": "EEF1A1 EEF2 EIF1 EIF4A1 EIF2S3X Eif3e EEF1A1P5 NACA TPT1 PABPC1",
    "common_markers": "CD8A Cd8a CD4 IL7R GZMK MS4A1 LYZ Gad1 SLC17A7 EPCAM PECAM1",
    "controls": "Blank-0 BLANK_0006 blank001 Blank.12 notarget1 NoTarget-002 NegPrb1 NegPrb10 "
    "Negative3 NegControlProbe_00042 NegControlCodeword_0500 NegProbe-WTX antisense_PROKR2 "
    "UnassignedCodeword_0001 DeprecatedCodeword_0321 Intergenic_Region_12 SystemControl12 "
    "FalseCode3 ERCC-00002 POS_A NEG_B(0)",
}


OUT = {
    "mitochondrial": "MT1X MTOR MTCH2 MTCP1 MTTP MTAP ENSG00000141510",
    "ribosomal": "RPS6KA1 Rps6kb1 RPS19BP1 MRPL12 RPSA-AS1 RPL34-DT RPS10-NUDT3 RPP40",
    "haemoglobin": "HBEGF HBS1L HBP1 Hbegf HB",
    "tcr": "TRADD TRAF2 TRAPPC1 TRDN TRDMT1 TRABD TRA2A TRAM1 TRAT1 TRD-AS1 TRAK1 TRANK1",
    "bcr": "IGHMBP2 IGLL1 IGLL5 IGLON5 IGF1 IGFBP3 Ighmbp2",
    "sex": "DDX3X RPS4X ZFX UTX",
    "cell_cycle": "GAPDH CCND1",
    "heat_shock": "HSPG2 HSPBP1 HSPBAP1 HSF1 DNAJC1 HSPE1-MOB4 DNAJA2-DT",
    "dissociation": "GAPDH FOSL1 MT1X",
    "housekeeping": "MALAT1 CD3D LYZ CD74 HLA-DRA INS IL7R Ptprc",
    "proliferation": "GAPDH MYC CCND1 CDKN1A CD3D Hmga2",
    "cytoskeleton": "ACTN4 ACTL6A TUBGCP2 TUBD1 PFN1P2 CFLAR TMSB15B-AS1",
    "translation": "EIF2AK2 EIF4EBP1 EEF1AKMT1 EEF2K EIF1AD EEF1A1-AS1 MTIF2",
    "common_markers": "CD47 GAPDH MALAT1 RPS3",
    "controls": "NEGR1 BLNK ERCC1 ERCC6L2 NOTCH1 FOXP3-AS1 DEPDC1 POSTN NEGATIVE CTRL ANTXR1",
}


def test_members_sources_and_ids_of_both_species():
    wrong = []
    for name in FAMILIES:
        wrong += [(name, gene) for gene in IN[name].split() if not is_member(gene, name)]
        wrong += [(name, gene) for gene in OUT[name].split() if is_member(gene, name)]
        kinds = {re.fullmatch(r"(ENSG|ENSMUSG)\d{11}", gene)[1] for gene in family(name)[1]}
        if name != "controls" and kinds != {"ENSG", "ENSMUSG"}:
            wrong.append((name, kinds))
    assert not wrong
    table = members("families.tsv.xz")
    genome = table["ensembl_id"][table["symbol"].str.upper().str.startswith("MT-")]
    assert sum("MUS" in gene for gene in genome) == sum("MUS" not in gene for gene in genome) == 37


def test_ids_and_symbols_agree(real):
    """On blood cells with both; only the id tells a gene whose name was that of a clone."""
    var = real("pbmc3k_2638").var
    pairs = list(zip(var.index, var["gene_ids"].astype(str), strict=True))
    for name in set(FAMILIES) - {"controls"}:
        by_symbol = {symbol for symbol, _ in pairs if is_member(symbol, name)}
        by_id = {symbol for symbol, ensembl in pairs if is_member(ensembl, name)}
        assert by_symbol <= by_id
        assert all(re.search(r"[.-]\d+$", symbol) for symbol in by_id - by_symbol)
        assert by_symbol or name in {"tcr", "bcr"}  # this annotation has no segments


def three_types(rng, n_genes):
    rate = np.repeat(rng.gamma(1.0, 2.0, size=(3, n_genes)), 30, axis=0)
    adata = ad.AnnData(np.log1p(rng.poisson(rate)).astype(float))
    adata.var_names = [f"g{i}" for i in range(n_genes)]
    adata.obs["type"] = np.repeat(["a", "b", "c"], 30)
    return adata


@pytest.fixture
def doors():
    """Cells by symbol, with ids in a column, and the same by ids with versions and symbols."""
    adata = three_types(np.random.default_rng(0), 20)
    ids = adata.copy()
    ids.var["symbol"] = adata.var_names
    ids.var_names = [f"ENSG{i:011d}.{i % 3}" for i in range(20)]
    adata.var["gene_ids"] = [name.partition(".")[0] for name in ids.var_names]
    return adata, ids


EVERY = {f"g{i}": 1.0 + i % 3 for i in range(20)}
BITS = {f"g{i}": f"{i:05b}" for i in range(18)}
NAMING = [
    {"include": ["g3"]},
    {"exclude": ["g0", "g1"]},
    {"preserve": ["g1", "g2"]},
    {"limits": Limits(groups={"a": ["g1", "g2"]}, per_group=(1, None))},
    {"limits": Limits(groups={"f": ["g0", "g1", "g2", "g3", "g4"]}, per_group=1)},
    {"limits": Limits(priority={"g1": 0.0, "g2": 0.1})},
    {"limits": Limits(cost=EVERY, budget=9.0)},
    {"platform": Platform(genes=[f"g{i}" for i in range(12)])},
    {"platform": Platform(genes=EVERY, min_probes=2)},
    {"platform": Platform(efficiency=EVERY, spread={"g1": 0.4})},
    {"platform": Platform(efficiency=pd.DataFrame({"efficiency": EVERY}))},
    {"platform": Platform(efficiency=1.0, off_target={"g2": 0.9}, max_off_target=0.5)},
    {"platform": Platform(failure={"g1": 0.5})},
    {"platform": Platform(codebook=BITS)},
]


@pytest.mark.parametrize("options", NAMING, ids=str)
def test_every_door_takes_symbols_and_other_spellings(doors, options):
    by_symbol, by_id = doors
    spelled = by_symbol.copy()
    spelled.var_names = [f"G-{i}" for i in range(20)]
    pp.select_genes(by_symbol, 4, **options)
    pp.select_genes(by_id, 4, symbols="symbol", **options)
    pp.select_genes(spelled, 4, **options)
    for name in ("glfs_selected", "glfs_rank", "glfs_score"):
        np.testing.assert_array_equal(by_symbol.var[name], by_id.var[name])
        np.testing.assert_array_equal(by_symbol.var[name], spelled.var[name])


def test_ids_with_and_without_versions_and_beside_symbols(doors):
    by_symbol, by_id = doors
    assert list(genes.panel(by_id, ["ENSG00000000004", "ENSG00000000005.9"]).genes) == [4, 5]
    assert list(genes.panel(by_symbol, ["ENSG00000000004.1", "g2"]).genes) == [4, 2]
    assert rows(by_symbol, ["ENSG00000000007.1"]) == [7]
    by_symbol.var_names = by_symbol.var["gene_ids"]
    assert list(genes.panel(by_symbol, ["ENSG00000000003.77"]).genes) == [3]
    pp.select_genes(by_symbol, 3, platform=Platform(failure={"ENSG00000000001.2": 0.5}))


def test_the_ids_of_a_file_decide(doors, tmp_path):
    path = tmp_path / "panel.csv"
    path.write_text("gene,ensembl_id\ng9,ENSG00000000004.7\nold,ENSG00000000002\ng1,\nnone,\n")
    by_symbol, by_id = doors
    named = genes.panel(by_symbol, path, missing="ignore")
    assert (list(named.genes), named.absent) == ([4, 2, 1], ["none"])
    pp.select_genes(by_id, 2, platform=Platform(genes=path), symbols="symbol")
    assert list(np.flatnonzero(by_id.var["glfs_orderable"])) == [1, 2, 4]
    path.write_text("gene,ensembl_id\ng9,ENSG00000000004.7\ng1,\n")
    for panel in (path, str(path), io.read_panel(path)):
        assert rows(by_symbol, panel) == excluded(by_symbol, panel) == [1, 4]
        assert list(np.flatnonzero(genes.not_to_choose(by_symbol, panel))) == [1, 4]


@pytest.mark.parametrize("form", [str, Path, io.read_panel])
def test_what_a_file_said_holds_where_the_file_is_gone(doors, tmp_path, form):
    adata, _ = doors
    path = tmp_path / "panel.csv"
    path.write_text("gene,ensembl_id\ng9,ENSG00000000004\ng1,\n")
    for name in ("exclude", "include", "preserve"):
        pp.select_genes(adata, 4, **{name: form(path)})
        assert list(adata.uns["glfs"]["params"][name]) == ["g4", "g1"]
    tl.classify(adata, "type", include=form(path), n_genes=3)
    pp.select_genes(adata, 4, exclude=form(path), preserve=form(path))
    path.unlink()
    tl.stability(adata, n_resamples=2)
    tl.extend_panel(adata, "glfs", 10)
    assert not adata.var.loc[["g4", "g1"], "glfs_extended_selected"].any()
    assert list(adata.uns["glfs_extended"]["params"]["exclude"]) == ["g4", "g1"]
    adata.write_h5ad(tmp_path / "cells.h5ad")


@pytest.fixture
def controlled():
    """The cells, and the same with the blanks of an instrument, which vary most."""
    rng = np.random.default_rng(0)
    adata = three_types(rng, 70)
    blanks = ad.AnnData(rng.poisson(20.0, size=(90, 3)).astype(float), obs=adata.obs)
    blanks.var_names = ["Blank-1", "NegPrb2", "ERCC-00002"]
    return adata, ad.concat([blanks, adata], axis=1, merge="same")


def test_controls_are_neither_structure_nor_candidates(controlled, caplog):
    clean, adata = controlled
    for options, container in (
        ({}, np.asarray),
        ({"preserve": "expression"}, sparse.csr_matrix),
        ({"method": "variance"}, sparse.csc_array),
    ):
        adata.X = container(adata.X.toarray() if sparse.issparse(adata.X) else adata.X)
        pp.select_genes(clean, 5, **options)
        pp.select_genes(adata, 5, **options)
        assert adata.var["glfs_score"][:3].isna().all()
        of_genes = adata.var.loc[clean.var_names]
        np.testing.assert_array_equal(of_genes["glfs_rank"], clean.var["glfs_rank"])
        shares = [cells.uns["glfs"]["preserved"] for cells in (adata, clean)]
        np.testing.assert_allclose(*shares, rtol=1e-6)
    assert "Blank-1" in caplog.text
    for cells in (clean, adata):
        tl.extend_panel(cells, ["g1", "g2"], 6)
    added = [set(cells.var_names[cells.var["glfs_extended_selected"]]) for cells in (clean, adata)]
    assert added[0] == added[1]


def test_controls_by_the_type_of_a_feature_and_by_name(controlled):
    clean, adata = controlled
    adata.var["feature_types"] = pd.Categorical(["Gene Expression"] * adata.n_vars)
    assert genes.choose(adata, Request()).allowed.sum() == clean.n_vars
    kinds = adata.var["feature_types"].astype(str)
    kinds[["g4", "g7", "g9"]] = ["Negative Control Probe", "Genomic Control", "Blank Codeword"]
    adata.var["feature_types"] = pd.Categorical(kinds)
    pp.select_genes(adata, 30)
    assert not adata.var.loc[["Blank-1", "g4", "g7", "g9"], "glfs_selected"].any()
    assert excluded(adata, "controls") == [0, 1, 2, 7, 10, 12]
    pp.select_genes(adata, 5, include=["Blank-1"])
    assert adata.var["glfs_selected"]["Blank-1"]
    strange = ["2310042E22Rik", "AC004556.1", "RP11-206L10.2", "AI848285", "Gm5_loc2"]
    adata.var_names = [*adata.var_names[:-5], *strange]
    pp.select_genes(adata, 30, include=strange[:2])
    assert list(adata.var["glfs_score"][strange].isna()) == [False, False, True, True, True]
    tl.evaluate_panel(adata, ["g1", "NegPrb2"])
    assert list(adata.uns["glfs_evaluation"]["genes"]["gene"]) == ["g1", "NegPrb2"]


def test_names_of_several_genes_and_species_are_said(pbmc, caplog):
    with refused(NotFound, "include") as caught:
        pp.select_genes(pbmc, 5, include=["P63"])
    assert "CKAP4" in str(caught.value)
    assert "TP63" in str(caught.value)
    named = genes.panel(pbmc, ["Nkg7", "Lyz", "Ms4a1", "JCHAIN"])
    assert list(pbmc.var_names[named.genes]) == ["NKG7", "LYZ", "MS4A1", "IGJ"]
    assert "JCHAIN is IGJ" in caplog.text
    assert "Homo sapiens" in caplog.text
    hints = genes.Lookup(pbmc, None).hints
    assert "may be" not in str(hints(["FOXP3"]))  # a gene that the data lack
    assert "CD3D" in str(hints(["CD3DD"]))
    old = cells(["Drd1a", "Emr1", "Gfap", "Gad1"])  # names of the past
    assert list(genes.panel(old, ["Adgre1", "Drd1", "GAD67", "F4/80"]).genes) == [1, 0, 3]


def test_numbers_and_probes_are_no_names(pbmc):
    pbmc.var["few"] = [name if i % 9 == 0 else "" for i, name in enumerate(pbmc.var_names)]
    pbmc.var["features"] = list(pbmc.var_names)
    pbmc.var_names = [str(i) for i in range(pbmc.n_vars)]
    for call in (partial(pp.select_genes, pbmc, 5), partial(genes.panel, pbmc, ["LYZ"])):
        with refused(InvalidValue, "adata") as caught:
            call()
        assert "symbols='features'" in str(caught.value)
    pp.select_genes(pbmc, 5, symbols="features", include=["LYZ"])
    pbmc.var_names = [f"{name}|{i:07x}" for i, name in enumerate(pbmc.var["features"])]
    with refused(InvalidValue, "adata"):
        pp.select_genes(pbmc, 5)


@pytest.mark.parametrize("door", ["include", "groups", "priority", "markers", "platform"])
def test_genes_by_other_names_are_told_at_every_door(pbmc, tmp_path, caplog, door):
    markers = tmp_path / "markers.csv"
    markers.write_text("type,gene\nB,CD20\nM,Lyz\n")
    options = {
        "include": {"include": ["CD20", "Lyz"]},
        "groups": {"limits": Limits(groups={"B": ["CD20", "Lyz"]}, per_group=1)},
        "priority": {"limits": Limits(priority={"CD20": 0.5, "Lyz": 0.5})},
        "markers": {"limits": Limits(groups=markers, per_group=(1, 1))},
        "platform": {"platform": Platform(genes=["CD20", "Lyz", *pbmc.var_names[:50]])},
    }
    pp.select_genes(pbmc, 5, **options[door])
    for text in ("CD20 is MS4A1", "Lyz is LYZ"):
        assert sum(text in message for message in caplog.messages) == 1
