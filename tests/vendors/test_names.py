"""Names found by present and past names and by ids, and cells that hold several."""

from __future__ import annotations

import pandas as pd

from glfs_bio.vendors import names
from glfs_bio.vendors.genes import as_genes
from glfs_bio.vendors.names import Resolver


def resolved(asked, genes, **options):
    table = None if genes is None else as_genes(genes)
    return Resolver(asked, table, **options).resolve(asked).set_index("name")


#: How names are found in the list of a vendor, and what they are called there.
WAYS = {
    "CD3D": ("symbol", "CD3D"),
    "CPSF3L": ("retired", "INTS11"),  # the data are older than the list
    "MARCHF1": ("present", "MARCH1"),  # the list is older than the data
    "SEP15": ("alias", "SELENOF"),
    "ENSG00000167286": ("id", "CD3D"),
    "ENSG00000167286.12": ("version", "CD3D"),
    "C2ORF15": ("case", "C2orf15"),
    "cd3-d": ("case", "CD3D"),
    "Cd20": ("absent", ""),
    "Ly6g": ("foreign", ""),
    "CD3": ("ambiguous", ""),
    "TBCE": ("ambiguous", ""),
    "MS4A1": ("absent", ""),
    "1-Mar": ("date", ""),
    "RP11-206L10.2": ("unknown", ""),
}


def test_ways_to_find_a_name(vendor):
    wrong = {}
    for name, expected in WAYS.items():
        row = resolved([name, "KRT1"], vendor, species="human").loc[name]
        if (row["found"], row["symbol"]) != expected:
            wrong[name] = row["found"], row["symbol"]
    assert not wrong


def test_candidates_and_doubles(vendor):
    """Of two names of one gene the better is the gene; the other would be ordered twice."""
    candidates = resolved(["TBCE", "1-Mar", "MS4A1", "CD3D"], vendor)["candidates"]
    assert "ENSG00000284770" in candidates["TBCE"]
    assert "ENSG00000285053" in candidates["TBCE"]
    assert "MARCHF1 (MARCH1)" in candidates["1-Mar"]
    assert candidates["MS4A1"] == "MS4A1"
    table = resolved(["CPSF3L", "INTS11", "CD3D"], vendor)
    assert list(table["found"]) == ["double", "symbol", "symbol"]


def test_names_with_several_pasts(monkeypatch):
    def history(symbols, previous):
        table = pd.DataFrame({"symbol": symbols, "previous": previous, "id": "", "aliases": ""})
        monkeypatch.setattr(names, "nomenclature_of", lambda _: names.Nomenclature(table))

    genes = pd.DataFrame({"symbol": ["QARS", "EPRS1"], "id": ["ENSG1", "ENSG2"]})
    history(["QARS", "EPRS1"], ["", "QARS"])
    table = resolved(["QARS"], genes)
    assert table.loc["QARS", "found"] == "symbol"
    assert "EPRS1" in table.loc["QARS", "candidates"]
    genes = pd.DataFrame({"symbol": ["A1", "B1"]})
    history(["A1", "B1"], ["OLD", "OLD|OLDER"])
    table = resolved(["OLD", "OLDER"], genes)
    assert list(table["found"]) == ["ambiguous", "retired"]
    assert table.loc["OLD", "candidates"] == "A1, B1"
    # also where one of the two is not listed
    assert list(resolved(["OLD"], genes[:1])["found"]) == ["ambiguous"]


def test_names_of_today_without_a_list_or_its_ids():
    assert list(resolved(["Cd3d", "March1"], None)["symbol"]) == ["Cd3d", "Marchf1"]
    table = resolved(["CD3D", "CPSF3L"], ["CD3D", "INTS11", "CD3D"])
    assert list(table["id"]) == ["ENSG00000167286", "ENSG00000127054"]


#: What a text holds: several names, one that has separators within it, or none that is clear.
TEXTS = {
    "CD3D,CD3E": ["CD3D", "CD3E"],
    "MS4A1; CD79A;": ["MS4A1", "CD79A"],
    "CD3D\nCD3E": ["CD3D", "CD3E"],
    "DDR1 /// MIR4640": ["DDR1", "MIR4640"],
    "CD3D, [CD3G, CD3Z], NA": ["CD3D", "CD3G", "CD3Z"],
    "l(2)gl, E(spl)m7-HLH": ["l(2)gl", "E(spl)m7-HLH"],
    "bdnf,crha": ["bdnf", "crha"],  # of a fish, in no nomenclature
    "7SK,NM_000546.5": ["7SK", "NM_000546.5"],
    "NKG7/GNLY": [],
    "CD3D, a T cell marker": [],
}
SINGLE = [
    *("HLA-A", "H2-K1", "YAL001C", "gene:ENSG00000167286", "MHC I"),
    # aliases of HGNC, targets of CosMx, a translocation of the fly, names of TCGA
    *("H+,K+-ATPase", "TRAV14/DV4", "CCL3/L1/L3", "HBA1/2"),
    *("T(2;3)ap", "A1BG|1", "ENSG00000167286|CD3D"),
]


def test_names_in_a_text():
    expected = {**TEXTS, **{name: [name] for name in SINGLE}}
    assert {text: names.several(text) for text in expected} == expected


#: Names that people write, and the genes they mean.
HUMAN = """
p27=CDKN1B
CD20=MS4A1 cd20=MS4A1 CD-20=MS4A1 CD31=PECAM1 CD45=PTPRC CD45RA=PTPRC CD56=NCAM1 CD11b=ITGAM
CD11c=ITGAX CD16=FCGR3A CD16a=FCGR3A CD25=IL2RA CD62L=SELL CD64=FCGR1A CD90=THY1 CD103=ITGAE
CD117=KIT c-Kit=KIT CD123=IL3RA CD127=IL7R CD137=TNFRSF9 CD152=CTLA4 CD279=PDCD1 CD49f=ITGA6
CD73=NT5E CD105=ENG CD146=MCAM CD134=TNFRSF4 CD10=MME CD23=FCER2 CD15=FUT4 CD41=ITGA2B CD71=TFRC
CD133=PROM1 CD161=KLRB1 PD1=PDCD1 PDL1=CD274 CTLA-4=CTLA4 TIM3=HAVCR2 4-1BB=TNFRSF9 GITR=TNFRSF18
FoxP3=FOXP3 Tbet=TBX21 TNF-alpha=TNF IFN-γ=IFNG IFN-gamma=IFNG IL1b=IL1B IL-2=IL2 IL-6=IL6
IL-8=CXCL8 IL8=CXCL8 IL-10=IL10 IL-7R=IL7R IL-17A=IL17A IL-2Rα=IL2RA TGF-β1=TGFB1 TGFb1=TGFB1
TGF-beta1=TGFB1 MCP-1=CCL2 MCP1=CCL2 RANTES=CCL5 SDF-1=CXCL12 SDF1=CXCL12 IP-10=CXCL10 MIP-1α=CCL3
G-CSF=CSF3 GM-CSF=CSF2 M-CSF=CSF1 VEGF=VEGFA VEGF-A=VEGFA VEGFR2=KDR FLK1=KDR HER2=ERBB2 HER-2=ERBB2
EGF-R=EGFR p53=TP53 P53=TP53 p63=TP63 P63=TP63 p21=CDKN1A p16=CDKN2A Ki-67=MKI67 Ki67=MKI67
KI67=MKI67 PCNA=PCNA SPC=SFTPC SP-C=SFTPC SPA=SFTPA1 CC10=SCGB1A1 CCSP=SCGB1A1 AQP-5=AQP5 T1α=PDPN
Podoplanin=PDPN E-cadherin=CDH1 N-cadherin=CDH2 VE-cadherin=CDH5 ZO-1=TJP1 ZO1=TJP1 CK5=KRT5
CK14=KRT14 CK-19=KRT19 K8=KRT8 NeuN=RBFOX3 VGLUT1=SLC17A7 VGLUT2=SLC17A6 VGAT=SLC32A1 GAD67=GAD1
GAD65=GAD2 IBA1=AIF1 Iba-1=AIF1 GLAST=SLC1A3 GLT-1=SLC1A2 NG2=CSPG4 OSP=CLDN11 TrkB=NTRK2
BRN2=POU3F2 OCT4=POU5F1 Oct-4=POU5F1 NKX2.1=NKX2-1 HIF-1α=HIF1A PPARγ=PPARG PPAR-gamma=PPARG
NF-κB=NFKB1 NFkB=NFKB1 IκBα=NFKBIA c-Myc=MYC cMyc=MYC c-Fos=FOS c-Jun=JUN BLIMP1=PRDM1 Blimp-1=PRDM1
Eomes=EOMES ROR-γt=RORC RORgt=RORC CRTH2=PTGDR2 EMR1=ADGRE1 HLADR=HLA-DRA HLA-DR-A=HLA-DRA
HLADRA=HLA-DRA IGJ=JCHAIN J-chain=JCHAIN IGHG-1=IGHG1 MLL2=KMT2D TAZ=TAFAZZIN SEPT7=SEPTIN7
MARCH1=MARCHF1 ERα=ESR1 PGC-1α=PPARGC1A MAP-2=MAP2 IL-1RA=IL1RN
"""
MOUSE = """
CD20=Ms4a1 Cd20=Ms4a1 Cd31=Pecam1 CD31=Pecam1 CD45=Ptprc B220=Ptprc F4/80=Adgre1 F480=Adgre1
Emr1=Adgre1 Drd1a=Drd1 CD11b=Itgam Mac-1=Itgam CD11c=Itgax Gr-1=Ly6g Gr1=Ly6g Sca-1=Ly6a Sca1=Ly6a
c-kit=Kit CD117=Kit CD16=Fcgr3 CD25=Il2ra PD-1=Pdcd1 PD-L1=Cd274 Tim-3=Havcr2 TIM3=Havcr2
Foxp-3=Foxp3 T-bet=Tbx21 TNFa=Tnf TNF-α=Tnf IFN-γ=Ifng Ifn-gamma=Ifng IL-1β=Il1b IL1B=Il1b Il-6=Il6
TGF-β1=Tgfb1 MCP-1=Ccl2 KC=Cxcl1 p53=Trp53 Tp53=Trp53 p63=Trp63 p21=Cdkn1a Ki-67=Mki67 Ki67=Mki67
SPC=Sftpc SP-C=Sftpc CC10=Scgb1a1 NeuN=Rbfox3 VGLUT1=Slc17a7 Vglut2=Slc17a6 VGAT=Slc32a1 GAD67=Gad1
Iba1=Aif1 IBA-1=Aif1 GLAST=Slc1a3 NG2=Cspg4 PV=Pvalb Oct4=Pou5f1 OCT-4=Pou5f1 Nkx2.1=Nkx2-1
α-SMA=Acta2 E-cadherin=Cdh1 CD3D=Cd3d CD8=Cd8a CD4=Cd4 GFAP=Gfap DCX=Dcx MBP=Mbp Thy-1=Thy1
March1=Marchf1 Sept7=Septin7 CD3=Cd3e NFkB=Nfkb1 Blimp-1=Prdm1
"""


def test_names_that_people_write():
    """Resolved to what they mean, or ambiguous, or not resolved: never to another gene."""
    n, n_open = 0, 0
    for names_of_species, species in ((HUMAN, "human"), (MOUSE, "mouse")):
        meant = dict(pair.split("=") for pair in names_of_species.split())
        resolver = Resolver(list(meant), species=species)
        for name, symbol in meant.items():
            row = resolver.resolve([name]).iloc[0]
            if row["found"] == "ambiguous":
                assert f"{symbol} (" in row["candidates"], name
            else:
                assert row["symbol"] in ("", symbol), name
            n, n_open = n + 1, n_open + (row["found"] in names.NOT_FOUND)
    assert n >= 200
    assert n_open < 0.25 * n


def test_lists_of_another_species():
    human = Resolver((), pd.DataFrame({"symbol": ["NKG7", "ITGAM", "CD8B", "NR2F6"], "id": ""}))
    asked = ["Nkg7", "Itgam", "Cd8b1", "Ear2"]
    assert list(human.resolve(asked)["symbol"]) == ["NKG7", "ITGAM", "CD8B", ""]
    assert human.of_other_species(asked)
    assert not human.of_other_species(["NKG7", "CD20", "Cd20"])


def test_controls():
    controls = [
        *("X__no_feature", "X__ambiguous", "X__alignment_not_unique", "SIRV501"),
        *("Sequential_Blank-1", "Blank_Codeword_1", "BlankCodeword_0001"),
        *("GenomicControlProbe_00001", "Genomic Control", "Custom_NegPrb", "NegPrb_Custom"),
        *("CD3:SK7|CD3E|AHS0033|pAbO", "IgG1_isotype", "DEPRECATED_ENSG00000139618|ab12cd3"),
        *("Mouse IgG2a", "Rat IgG1, κ Iso", "MsIgG1", "IgG2b ctrl", "Armenian Hamster IgG"),
        *("CD3_TotalSeqB", "CD4-ADT", "HTO_1", "Hashtag 5"),
    ]
    assert [name for name in controls if names.is_control(name)] == controls
    known = {name for name in names._names(folded=False) if names.is_control(name)}
    assert not known


def test_ids_of_any_kind():
    for text in ("ensg00000167286.3", "gene:ENSG00000167286", "ENSG00000167286.11_PAR_Y"):
        assert names.as_id(text) == "ENSG00000167286"
    for other in ("FBgn0000008", "WBGene00000001", "AT1G01010"):
        assert names.is_id(other)
        assert names.as_id(other) == other
        assert names.versionless(other) == ""
