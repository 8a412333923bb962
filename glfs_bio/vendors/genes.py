"""Tables of genes: vendors' lists, annotations, nomenclatures, and numbers of probes."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import checks
from .._files import existing, reading
from ..errors import NO_VALUE, InvalidType, InvalidValue, Message, listed, naming, shown
from . import headers, names, sheets

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger(__name__)

#: Columns of a table of genes beside symbol and id, and what they are headed in files, as
#: :func:`.headers.plain` has it.
COLUMNS = {
    "species": ("specie", "organism"),
    "n_probes": headers.PROBE_HEADS,
    "previous": ("previou", "prevsymbol", "previoussymbol"),
    "aliases": ("aliase", "alia", "aliassymbol", "synonym", "markersynonym"),
    "family": ("family", "genefamily", "genegroup", "paralog"),
}
_GTF = (".gtf", ".gff", ".gff3")
#: Attributes of a gene in a GTF or GFF3 file.
_ATTRIBUTE = re.compile(r'(gene_id|gene_name|Name|ID)[ =]"?(?:gene:)?([^";]+)')


def read_genes(path: str | Path, *, species: str | None = None) -> pd.DataFrame:
    r"""Read a table of genes: a vendor's list, an annotation, a nomenclature, or probe counts.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.tsv``, ``.txt`` or ``.xlsx`` with a header, such as ``Species,Ensembl ID,Gene
        symbol`` of 10x Genomics, ``gene_name,chr,probe_count``, or the complete set of HGNC;
        ``features.tsv`` of 10x; ``.gtf`` or ``.gff3``, of which the genes are read; a list of
        names.  All but the ``.xlsx`` also with ``.gz``, ``.bz2`` or ``.xz``.  Headers, row numbers
        and several names in a cell are read as by :func:`read_panel`.
    species : str, default None
        Species of the genes to return, such as ``"Homo sapiens"`` or ``"human"``.  None: all.

    Returns
    -------
    DataFrame
        One row per gene, with those of the columns ``symbol``, ``id`` (of Ensembl, without its
        version, or of another database), ``species``, ``n_probes``, ``previous``, ``aliases`` (with
        ``|`` between names) and ``family`` that the file has; ``symbol`` and ``id`` are always
        there, ``""`` where unknown.  A gene that is in several places has the most probes of them.

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
    ending = sheets.ending(path)
    if ending not in (*_GTF, *sheets.LISTS):
        endings = shown(*sheets.LISTS, *_GTF)
        raise InvalidValue("path", str(path), "has an unknown ending", f"use one of {endings}")
    if ending in _GTF:
        frame = pd.DataFrame(_of_annotation(path), columns=["symbol", "id"])
    else:
        frame = _of_rows(str(path), sheets.table(path))
    if frame.empty:
        raise InvalidValue("path", str(path), "holds no genes")
    dates = [name for name in frame["symbol"] if names.dates(name)]
    if dates:
        log.warning(
            Message(
                f"{path} has among the genes dates, as spreadsheets make of names, which no gene "
                f"is found by: {listed(dates)}."
            )
        )
    return frame if species is None else names.of_species(frame, species, argument="species")


def as_genes(given: Any, argument: str = "genes") -> pd.DataFrame:
    """Return a table of genes out of what an argument holds: a file, a table, or names."""
    if isinstance(given, str | Path):
        with naming(path=argument):
            return read_genes(given)
    if isinstance(given, pd.DataFrame):
        with naming(path=argument):
            frame = _of_rows(NO_VALUE, sheets.of_frame(given))
    elif isinstance(given, Collection) and not isinstance(given, bytes):
        frame = _genes(pd.DataFrame({"symbol": list(map(str, given)), "id": ""}, dtype=object))
    else:
        raise InvalidType(argument, given, "must be a file, a table or names of genes")
    if frame.empty:
        raise InvalidValue(argument, NO_VALUE, "holds no genes")
    return frame


def _of_rows(source: object, rows: list[list[headers.Cell]]) -> pd.DataFrame:
    """A table of genes out of rows, with a header or without one."""
    found = headers.genes(source, rows)
    table = found.sheet
    frame = pd.DataFrame({"symbol": pd.Series(table.column(found.gene), dtype=object)})
    frame["id"] = "" if found.id is None else headers.texts(table.column(found.id))
    for name, known in COLUMNS.items():
        place = headers.place(table.heads, known)
        if place is not None and place != found.gene:
            frame[name] = headers.texts(table.column(place))
    if "n_probes" in frame:
        frame = _numbered(source, frame)
    return _genes(headers.one_name_a_row(source, frame, "symbol"))


def _numbered(source: object, frame: pd.DataFrame) -> pd.DataFrame:
    """The same with numbers of probes, 0 where a cell is empty; texts alone are none, as names."""
    cells = frame["n_probes"]
    found = headers.numbers_of(cells)
    strange = cells[found.isna() & ~cells.isin(names.NO_NAME)]
    if len(strange) and found.isna().all():
        return frame.drop(columns="n_probes")
    if len(strange):
        raise InvalidValue(
            "path", source, f"has among the numbers of probes {listed(strange)}", "write numbers"
        )
    return frame.assign(n_probes=found.fillna(0.0))


def _genes(frame: pd.DataFrame) -> pd.DataFrame:
    """The same with ids in one spelling, numbers of probes, and each gene once."""
    ids = frame["id"].map(names.as_id)
    ids = ids.mask(ids.map(names.is_number), "")
    alone = frame["symbol"][ids == ""]
    ids[ids == ""] = [names.as_id(name) if names.is_id(name) else "" for name in alone]
    frame = frame.assign(id=ids)
    for name in ("previous", "aliases"):
        if name in frame:
            frame[name] = frame[name].str.replace(", ", "|", regex=False)
    named = (frame["symbol"] != "") | (frame["id"] != "")
    kept = frame[named & ~frame["symbol"].map(names.is_control)]
    kept = kept[[name for name in ("symbol", "id", *COLUMNS) if name in kept]]
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
                    names.versionless(name),
                )
