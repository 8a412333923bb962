"""Orders: the forms that platforms have for them, and what keeps a gene off one."""

from __future__ import annotations

import gzip
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.io import mmwrite

from .._extras import needs
from .._files import replacing
from ..errors import InvalidValue
from . import names, sheets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from .._typing import Index

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
#: A gene with a larger share of the counts of an order is noted: alone it fills an image.
ABUNDANT = 0.2
#: Cells from which the size of a file is estimated.
_CELLS = 2_000
#: Of gzip: 9 takes several times as long for a few per cent.
_COMPRESSION = 5
#: Share of the room that cells are chosen for, as cells differ.
_ROOM = 0.95
#: Families whose members are so alike in sequence that probes may take one for another.
HOMOLOGOUS = ("ribosomal", "haemoglobin", "tcr", "bcr", "heat_shock")


#: What is checked before an order is written, and which genes are named.
CHECKS = {
    "names": "found under another name, past or present",
    "ids": "without an Ensembl id",
    "refused": "that cannot be ordered: not on the list, ambiguous, doubled, or out of limits",
    "catalogue": "on the catalogue, and not ordered",
    "limits": "limits on the whole panel that are not met",
    "families": "with others of their family, which probes may take for one another",
    "abundance": f"with more than {ABUNDANT:.0%} of the counts of the order",
}


@dataclass(frozen=True)
class OrderForm:
    """A form of orders."""

    title: str
    endings: tuple[str, ...]
    #: Makes the content of the file from the table of an order
    columns: Callable[[pd.DataFrame], pd.DataFrame]
    #: A gene without an Ensembl id cannot be ordered
    needs_ids: bool = False
    #: It says why each gene is in the panel
    explains: bool = False
    #: Per gene that can be asked for; 0: none
    most_probe_sets: int = 0
    #: Sheet, and row above the table, of a workbook
    above: tuple[str, str] | None = None


def _xenium(table: pd.DataFrame) -> pd.DataFrame:
    sets = [str(int(n)) if n > 0 else "" for n in table["n_probe_sets"]]
    forced = np.where(table["forced"], "forced", "")
    return pd.DataFrame(
        {"Gene": table["gene"], "Ensembl ID": table["id"], "Probe sets": sets, "Force": forced}
    )


def _two_columns(gene: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def columns(table: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({gene: table["gene"], "Ensembl ID": table["id"]})

    return columns


def _everything(table: pd.DataFrame) -> pd.DataFrame:
    shown = table.rename(columns={"id": "ensembl_id"})
    shown["n_probe_sets"] = [str(int(n)) if n > 0 else "" for n in shown["n_probe_sets"]]
    shown["forced"] = np.where(shown["forced"], "TRUE", "FALSE")
    return shown


#: By the names of platforms.  What Vizgen and NanoString take is not public: theirs are tables of
#: genes to send, and that of CosMx is laid out as the lists that it publishes.
ORDERS = {
    "xenium_v1": OrderForm(
        "10x custom gene list (Xenium v1)", (".csv",), _xenium, needs_ids=True, most_probe_sets=8
    ),
    "xenium_prime": OrderForm(
        "10x custom gene list (Xenium Prime)", (".csv",), _xenium, needs_ids=True, most_probe_sets=6
    ),
    "merscope": OrderForm("MERSCOPE gene table", (".csv",), _two_columns("Gene")),
    "cosmx": OrderForm(
        "CosMx gene list", (".xlsx",), _two_columns("Display Name"), above=("About", "Genes")
    ),
    "sheet": OrderForm("order sheet", (".csv", ".tsv", ".xlsx"), _everything, explains=True),
}


def faults(
    resolved: pd.DataFrame,
    form: OrderForm,
    *,
    strict: bool,
    n_probes: Sequence[float] | None = None,
    min_probes: int = 1,
) -> list[str]:
    """Return, for each resolved name, why it cannot be ordered; ``""`` where it can.

    With `strict`, a gene must be in the table whatever the form.  `n_probes` are those of each row
    of the table; None: unknown.
    """
    found = []
    for name in resolved.itertuples():
        fault = ""
        if name.place < 0 and (strict or form.needs_ids or name.found == "date"):
            fault = names.NOT_FOUND[name.found]
            if name.candidates and name.candidates != name.name:
                fault += f" ({name.candidates})"
        elif form.needs_ids and not name.id:
            fault = "has no Ensembl id"
        elif n_probes is not None and name.place >= 0 and n_probes[name.place] < min_probes:
            fault = f"has {n_probes[name.place]:g} probes, fewer than {min_probes}"
        found.append(fault)
    return found


def write(table: pd.DataFrame, form: OrderForm, path: Path, *, overwrite: bool) -> None:
    """Write the table of an order; its names are those that :func:`.sheets.check_names` passes."""
    content = form.columns(table).map(sheets.without_formula)
    separator = _SEPARATORS.get(path.suffix.lower())
    if separator is None:
        needs("An .xlsx file", "openpyxl")
    with replacing(path, overwrite=overwrite) as target:
        if separator is not None:
            content.to_csv(target, sep=separator, index=False, encoding="utf-8")
            return
        with target.open("wb") as file, pd.ExcelWriter(file, engine="openpyxl") as book:
            if form.above is not None:
                first, row = form.above
                pd.DataFrame({form.title: [f"{len(content)} genes"]}).to_excel(
                    book, sheet_name=first, index=False
                )
                content.to_excel(book, sheet_name=row, startrow=1, index=False)
                book.sheets[row].cell(1, 1).value = form.title
            else:
                content.to_excel(book, sheet_name="order", index=False)


@dataclass(frozen=True)
class Reference:
    """A single-cell reference, as 10x Genomics takes it with an order."""

    #: Raw counts, cells × genes
    counts: Any
    #: Of each cell, with its type
    barcodes: Sequence[str]
    labels: Sequence[str]
    #: Of each gene, Ensembl
    ids: Sequence[str]
    symbols: Sequence[str]

    def cells(self, chosen: Index) -> Reference:
        """Return the reference of some cells."""
        return Reference(
            self.counts[chosen],
            [self.barcodes[cell] for cell in chosen],
            [self.labels[cell] for cell in chosen],
            self.ids,
            self.symbols,
        )

    def sampled(self, n_cells: int, random_state: int | None) -> Index:
        """Return cells, at most so many: of every type as many as the largest types still have."""
        rng = np.random.default_rng(random_state)
        order = rng.permutation(len(self.labels))
        place = pd.Series(order).groupby(np.asarray(self.labels, dtype=object)[order]).cumcount()
        # of each type the first, then of each the second, ...
        return np.sort(order[np.argsort(place.to_numpy(), kind="stable")[:n_cells]])

    def write(self, target: Path) -> None:
        """Write the zip file, which is the same for the same cells."""
        features = pd.DataFrame({0: self.ids, 1: self.symbols, 2: "Gene Expression"})
        types = pd.DataFrame({"barcode": self.barcodes, "annotation": self.labels})
        texts = {
            "features.tsv.gz": features.to_csv(sep="\t", header=False, index=False),
            "barcodes.tsv.gz": types[["barcode"]].to_csv(header=False, index=False),
            "celltypes.csv": types.to_csv(index=False),
        }
        counts = sparse.csr_array(self.counts)
        with zipfile.ZipFile(target, "w") as archive:
            with _part(archive, "matrix.mtx.gz") as file:
                mmwrite(file, sparse.coo_array(counts.astype(np.int64).T), field="integer")
            for name, text in texts.items():
                with _part(archive, name) as file:
                    file.write(text.encode())


def write_reference(
    reference: Reference, target: Path, *, max_bytes: float, random_state: int | None
) -> int:
    """Write a reference of as many cells as fit into a file, and return how many these are."""
    every = n_cells = len(reference.labels)
    if every > _CELLS:  # its size is estimated from some cells
        reference.cells(reference.sampled(_CELLS, random_state)).write(target)
        fitting = int(_ROOM * max_bytes * _CELLS / target.stat().st_size)
        n_cells = min(every, max(fitting, len(set(reference.labels))))
    while True:
        whole = n_cells == every
        part = reference if whole else reference.cells(reference.sampled(n_cells, random_state))
        part.write(target)
        size = target.stat().st_size
        if size <= max_bytes:
            return n_cells
        n_cells = int(n_cells * _ROOM * max_bytes / size)
        if n_cells < len(set(reference.labels)):
            raise InvalidValue(
                "max_bytes",
                max_bytes,
                "has no room for one cell of every type",
                "allow more, or leave types out",
            )


@contextmanager
def _part(archive: zipfile.ZipFile, name: str) -> Iterator[Any]:
    """Yield a file within an archive, packed on its own where its name says so."""
    entry = zipfile.ZipInfo(name)
    packed = name.endswith(sheets.PACKED)
    entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
    with archive.open(entry, "w", force_zip64=True) as part:
        if not packed:
            yield part
            return
        with gzip.GzipFile("", "wb", _COMPRESSION, part, mtime=0) as file:
            yield file
