"""Orders: the forms that platforms have for them, and what keeps a gene off one."""

from __future__ import annotations

import gzip
import io
import logging
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.io import mmwrite

from .. import checks
from .._files import replacing
from ..data.matrix import RowMatrix, no_rows
from ..errors import NO_VALUE, InvalidValue, NotFound, listed
from . import sheets
from .names import NOT_FOUND

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from .._typing import Array, Index, Matrix
    from ..data.matrix import Sums

log = logging.getLogger(__name__)

#: A gene with a larger share of the counts of an order is noted: alone it fills an image.
ABUNDANT = 0.2
#: Cells from which the size of a file is estimated.
_CELLS = 2_000
#: Cells that are written at once.
_AT_ONCE = 10_000
#: Of gzip: 9 takes several times as long for a few per cent.
_COMPRESSION = 5
#: Share of the room that cells are chosen for, as cells differ.
_ROOM = 0.95
#: Columns of an order that are true or false.
_FLAGS = ("forced", "must_have", "is_backup", "acceptable")
#: Where 10x Genomics says which genes have probes.
_OF_10X = "10x Genomics publishes it for {}, as a table of species, Ensembl ids and symbols."


@dataclass(frozen=True)
class OrderForm:
    """A form of orders: what it is called, what can be asked, and how it is written."""

    title: str
    #: Of its files.
    endings: tuple[str, ...]
    #: Makes what the file holds of the table of an order.
    columns: Callable[[pd.DataFrame], pd.DataFrame]
    #: Whether a gene without an Ensembl id cannot be ordered.
    needs_ids: bool = False
    #: Whether it says why each gene is in the panel.
    explains: bool = False
    #: Most probe sets of a gene that can be asked for; 0: none can.
    most_probe_sets: int = 0
    #: Where the list of genes with probes is found, in a sentence.
    where_listed: str = "It is the list of the vendor that makes the probes."
    #: Sheets of a workbook: one before the table, and that of the table, below the title.
    above: tuple[str, str] | None = None

    def check_file(self, path: Path, argument: str = "path") -> None:
        """Refuse a file that cannot have this form."""
        if path.suffix.lower() not in self.endings:
            raise InvalidValue(
                argument, str(path), f"must end with {' or '.join(self.endings)} for a {self.title}"
            )

    def faults(
        self, resolved: pd.DataFrame, *, strict: bool, n_probes: Array | None, min_probes: int
    ) -> list[str]:
        """Return, for each name that was looked up, why it cannot be ordered; ``""`` where it can.

        With `strict` no gene can that is not in the table of genes, whatever the form; `n_probes`
        is how many probes can be made for each row of that table, None where it does not say.
        """
        found = []
        for name in resolved.itertuples():
            fault = ""
            lacks = name.found in NOT_FOUND
            if lacks and (strict or self.needs_ids or name.found == "date"):
                fault = NOT_FOUND[name.found]
                if name.candidates and name.candidates != name.name:
                    fault += f" ({name.candidates})"
            elif self.needs_ids and not name.id:
                fault = "has no Ensembl id"
            elif n_probes is not None and name.place >= 0 and n_probes[name.place] < min_probes:
                fault = f"has {n_probes[name.place]:g} probes, fewer than {min_probes}"
            found.append(fault)
        return found

    def probe_sets(self, table: pd.DataFrame, asked: Any) -> Array:
        """How many probe sets are asked for of each gene, 0 where the vendor decides."""
        found = np.zeros(len(table))
        if asked is None:
            return found
        self._check_of_xenium("probe_sets", asked)
        each = asked if isinstance(asked, dict) else dict.fromkeys(table["gene"], asked)
        for name, number in each.items():
            checks.whole_number("probe_sets", number, at_least=1)
            if number > self.most_probe_sets:
                raise InvalidValue(
                    "probe_sets",
                    number,
                    f"is more than the {self.most_probe_sets} of a gene ({self.title})",
                )
            found[_listed(table, [name], "probe_sets")] = number
        return found

    def forced(self, table: pd.DataFrame, genes: Collection[str]) -> NDArray[np.bool_]:
        """Whether each gene is to be designed whatever the checks of the vendor say."""
        if genes:
            self._check_of_xenium("force", genes)
        return _listed(table, genes, "force")

    def _check_of_xenium(self, argument: str, value: Any) -> None:
        if not self.most_probe_sets:
            raise InvalidValue(
                argument, value, f"is for orders of Xenium, and this is a {self.title}"
            )

    def write(self, table: pd.DataFrame, path: Path, *, overwrite: bool) -> None:
        """Write an order; its names are those that :func:`.sheets.check_names` passes.

        Backups are written where the form says that they are.
        """
        if not self.explains and "is_backup" in table:
            table = table[~table["is_backup"].to_numpy(dtype=bool)]
        content = self.columns(table)
        if self.above is None:
            sheets.write(content, path, overwrite=overwrite, sheet="order")
            return
        first, row = self.above
        about = pd.DataFrame({self.title: [f"{len(content)} genes"]})
        with (
            replacing(path, overwrite=overwrite) as target,
            target.open("wb") as file,
            pd.ExcelWriter(file, engine="openpyxl") as book,
        ):
            about.to_excel(book, sheet_name=first, index=False)
            content = content.map(sheets.without_formula)
            content.to_excel(book, sheet_name=row, startrow=1, index=False)
            book.sheets[row].cell(1, 1).value = self.title


def _listed(table: pd.DataFrame, names: Collection[str], argument: str) -> NDArray[np.bool_]:
    """Genes of an order by name, in the data or on the platform."""
    strange = {*names} - {*table["gene"], *table["name"]}
    if strange:
        raise NotFound(
            argument,
            NO_VALUE,
            f"has genes that are not on the order: {listed(strange)}",
            "name genes of it",
        )
    return np.asarray(table["gene"].isin(names) | table["name"].isin(names))


def _xenium(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Gene": table["gene"],
            "Ensembl ID": table["id"],
            "Probe sets": _numbers(table["n_probe_sets"]),
            "Force": np.where(table["forced"], "forced", ""),
        }
    )


def _two_columns(gene: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda table: pd.DataFrame({gene: table["gene"], "Ensembl ID": table["id"]})


def _everything(table: pd.DataFrame) -> pd.DataFrame:
    flags = [name for name in _FLAGS if name in table]
    return table.rename(columns={"id": "ensembl_id"}).assign(
        n_probe_sets=_numbers(table["n_probe_sets"]),
        **{name: np.where(table[name], "TRUE", "FALSE") for name in flags},
    )


def _numbers(n_probe_sets: pd.Series) -> list[str]:
    return [str(int(n)) if n > 0 else "" for n in n_probe_sets]


#: By the names of platforms.  What Vizgen and NanoString take is not public: theirs are tables of
#: genes to send, and that of CosMx is laid out as the lists that it publishes.
ORDERS = {
    "xenium_v1": OrderForm(
        "10x custom gene list (Xenium v1)",
        (".csv",),
        _xenium,
        needs_ids=True,
        most_probe_sets=8,
        where_listed=_OF_10X.format("Xenium v1"),
    ),
    "xenium_prime": OrderForm(
        "10x custom gene list (Xenium Prime)",
        (".csv",),
        _xenium,
        needs_ids=True,
        most_probe_sets=6,
        where_listed=_OF_10X.format("Xenium Prime"),
    ),
    "merscope": OrderForm(
        "MERSCOPE gene table",
        (".csv",),
        _two_columns("Gene"),
        where_listed="The export of Vizgen's design portal has the target regions of each gene.",
    ),
    "cosmx": OrderForm(
        "CosMx gene list",
        (".xlsx",),
        _two_columns("Display Name"),
        where_listed="None is public: ask the vendor.",
        above=("About", "Genes"),
    ),
    "sheet": OrderForm("order sheet", (".csv", ".tsv", ".xlsx"), _everything, explains=True),
}


def write_reference(
    counts: RowMatrix,
    cells: pd.DataFrame,
    genes: pd.DataFrame,
    target: Path,
    *,
    max_bytes: float,
    random_state: int | None,
) -> int:
    """Write a single-cell reference of as many cells as fit into a file, and return their number.

    `counts` are cells × genes, of which the cells that are drawn are read; `cells` has a
    ``barcode`` and an ``annotation``, the type, per cell, `genes` an Ensembl id and a symbol per
    gene.  The same cells give the same file.
    """
    every = n_cells = len(cells)
    n_types = cells["annotation"].nunique()

    def size_of(n_cells: int) -> int:
        chosen = np.arange(every)
        if n_cells < every:
            chosen = _sampled(cells["annotation"], n_cells, random_state)
        _write(RowMatrix(counts, chosen), cells.iloc[chosen], genes, target)
        return target.stat().st_size

    if every > _CELLS:  # its size is estimated from some cells
        fitting = int(_ROOM * max_bytes * _CELLS / size_of(_CELLS))
        n_cells = min(every, max(fitting, n_types))
    while (size := size_of(n_cells)) > max_bytes:
        n_cells = int(n_cells * _ROOM * max_bytes / size)
        if n_cells < n_types:
            raise InvalidValue(
                "max_bytes",
                max_bytes,
                "has no room for one cell of every type",
                "allow more, or leave types out",
            )
    return n_cells


def _sampled(labels: pd.Series, n_cells: int, random_state: int | None) -> Index:
    """Cells, at most so many: of every type as many as the largest types still have."""
    order = np.random.default_rng(random_state).permutation(len(labels))
    place = pd.Series(order).groupby(labels.to_numpy(dtype=object)[order]).cumcount()
    # of each type the first, then of each the second, ...
    return np.sort(order[np.argsort(place.to_numpy(), kind="stable")[:n_cells]])


def _write(counts: RowMatrix, cells: pd.DataFrame, genes: pd.DataFrame, target: Path) -> None:
    """Write a zip file as 10x Genomics takes it."""
    features = genes.assign(kind="Gene Expression")
    texts = {
        "features.tsv.gz": features.to_csv(sep="\t", header=False, index=False),
        "barcodes.tsv.gz": cells[["barcode"]].to_csv(header=False, index=False),
        "celltypes.csv": cells.to_csv(index=False),
    }
    with zipfile.ZipFile(target, "w") as archive:
        with _part(archive, "matrix.mtx.gz") as file:
            for text in _market(counts):
                file.write(text)
        for name, rows in texts.items():
            with _part(archive, name) as file:
                file.write(rows.encode())


def _market(counts: RowMatrix) -> Iterator[bytes]:
    """Genes × cells as a file of Matrix Market has them, some thousand cells at a time."""
    n_cells, n_genes = counts.shape
    (n_stored,), _ = counts.sweep(_n_stored)
    empty = io.BytesIO()
    mmwrite(empty, sparse.coo_array((n_genes, n_cells), dtype=np.int64), field="integer")
    about = empty.getvalue().splitlines(keepends=True)[:-1]
    yield b"".join(about) + f"{n_genes} {n_cells} {int(n_stored)}\n".encode()
    for begin in range(0, n_cells, _AT_ONCE):
        cells = np.arange(begin, min(begin + _AT_ONCE, n_cells))
        block = sparse.coo_array(RowMatrix(counts, cells).loaded())
        if block.nnz:
            places = block.coords[1], block.coords[0] + begin
            values = block.data.astype(np.int64)
            some = io.BytesIO()
            own = sparse.coo_array((values, places), shape=(n_genes, n_cells))
            mmwrite(some, own, field="integer")
            yield some.getvalue().split(b"\n", len(about) + 1)[-1]
        progress = {"stage": "writing cells", "n_done": int(cells[-1]) + 1, "n_all": n_cells}
        log.info("%d of %d cells written", cells[-1] + 1, n_cells, extra=progress)


def _n_stored(block: Matrix, _: slice) -> tuple[Sums, Matrix]:
    found = block.nnz if sparse.issparse(block) else np.count_nonzero(block)
    return (np.array(float(found)),), no_rows(block)


@contextmanager
def _part(archive: zipfile.ZipFile, name: str) -> Iterator[Any]:
    """Yield a file within an archive, packed on its own where its name says so."""
    entry = zipfile.ZipInfo(name)
    packed = name.endswith(tuple(sheets.PACKED))
    entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
    with archive.open(entry, "w", force_zip64=True) as part:
        if not packed:
            yield part
            return
        with gzip.GzipFile("", "wb", _COMPRESSION, part, mtime=0) as file:
            yield file
