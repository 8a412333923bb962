"""Arguments, options and records of options that several commands have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

import glfs_bio

from ..methods import METHODS
from . import _files as files
from . import _results as results
from . import _values as values
from ._command import given
from ._stderr import note, progress

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData

#: Options of a structure that ``pp.select_genes`` does not have.
_KNOBS = ("n_neighbors", "lambda1")
#: Where a structure is kept that options ask for.
_NAMED = "glfs_structure_named"

Source = Annotated[
    Path,
    typer.Argument(
        metavar="IN",
        help="Cells × genes: .h5ad, .zarr, .loom, .csv, .tsv, 10x .h5, a folder of 10x; or - for "
        "stdin.",
    ),
    files.Reads(),
]
Panel = Annotated[
    Any,
    typer.Argument(
        metavar="PANEL",
        help="Key of a selection, boolean var column, .txt, .csv, .tsv, .gmt or .xlsx of genes, or "
        "names with commas between them, as CD3D,LYZ.",
    ),
    values.As(str, values.panel),
]
Method = Annotated[str, f"One of {', '.join(METHODS)}."]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Annotated .h5ad or .zarr; - is .h5ad on stdout."),
    files.Writes(files.CELLS),
]
Table = Annotated[
    Path | None, "Write the table here: .csv or .tsv.", files.Writes(tuple(files.TABLES))
]
Layer = Annotated[str | None, "Layer in place of X."]
Genes = Annotated[
    Any,
    "Genes, var columns, families such as mitochondrial, /patterns/, or @files of genes, "
    "with commas between them; may be repeated.",
    values.As(list[str] | None, values.genes),
]
Labels = Annotated[str | None, "Column of obs with labels, such as cell types."]
CountsLayer = Annotated[str | None, "Layer of raw counts, or X."]
MinScore = Annotated[float, "A substitute takes over at least this share of what the gene does."]
Missing = Annotated[str, "Genes that are not there: raise an error, warn, or ignore."]
Symbols = Annotated[str | None, "Column of var with the names of the genes."]
Key = Annotated[str, "Which selection: its --key-added."]
KeyAdded = Annotated[str, "Key of uns, and prefix of what is written."]
BatchKey = Annotated[str | None, "Column of obs with the batch."]
Backed = Annotated[bool, "Leave the matrix of an .h5ad in the file while working."]
Overwrite = Annotated[bool, "Replace existing files."]


def seed(text: str) -> Any:
    """The option of ``random_state``."""
    return typer.Option("--seed", help=text)


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Cells, and what is to be done with them before anything else."""

    source: Source
    transpose: Annotated[
        bool | None,
        typer.Option(
            "--transpose/--no-transpose",
            help="A table has genes in its rows, or cells.",
            show_default="to be told where it is not cells",
        ),
    ] = None
    log1p: Annotated[bool, "X holds counts: normalise totals and take logarithms."] = False

    def load(self, *, backed: bool = False) -> AnnData:
        """Read them; for what is raised, see :func:`._files.load`."""
        return files.load(self.source, transpose=self.transpose, log1p=self.log1p, backed=backed)


@dataclass(frozen=True, kw_only=True)
class Written:
    """Where annotated cells and a table go: to files, or the table to stdout."""

    output: Output = None
    table: Table = None
    overwrite: Overwrite = False

    def put(
        self,
        adata: AnnData,
        table: pd.DataFrame,
        *summary: str,
        beside: dict[Path | None, pd.DataFrame] | None = None,
    ) -> None:
        """Write the cells, say some lines on stderr, and write the table after those beside it."""
        if self.output is not None:
            files.put_cells(adata, self.output, overwrite=self.overwrite)
        for line in summary:
            note(line)
        for file, frame in (beside or {}).items():
            if file is not None:
                files.put_table(frame, file, overwrite=self.overwrite)
        if self.table is not None or not files.is_one(self.output):
            files.put_table(table, self.table, overwrite=self.overwrite)


@dataclass(frozen=True, kw_only=True)
class Structure:
    """Parameters of ``pp.structure``; None is one that is not given."""

    PANEL: ClassVar = "Structure of the cells"
    layer: Annotated[str | None, "Layer in place of X."] = None
    batch_key: Annotated[str | None, "Column of obs with the batch."] = None
    use_rep: Annotated[
        str | None, "Key of obsm, or of a structure; computed from the matrix if not given."
    ] = None
    neighbors_key: Annotated[str | None, "Graph: key of uns; computed if not given."] = None
    n_comps: Annotated[int | None, "Principal components; 0 is full rank. Default: 50."] = None
    n_neighbors: Annotated[
        int | None, "Neighbours, where there is no graph. Default: 15, fewer below 300 cells."
    ] = None
    lambda1: Annotated[float | None, "Weight of the graph. Default: 100.0."] = None
    random_state: Annotated[
        int | None,
        typer.Option(
            "--seed", help="Seed of the structure, and of all that is random. Default: 0."
        ),
    ] = None

    @property
    def seed(self) -> int:
        """Seed of what is random beside the structure."""
        return 0 if self.random_state is None else self.random_state

    def arguments(self) -> dict[str, Any]:
        """Those that are given."""
        found = given(self)
        return found | ({"n_comps": None} if self.n_comps == 0 else {})

    def knobs(self) -> list[str]:
        """Names of those that are given and that ``pp.select_genes`` does not have."""
        return [name for name in _KNOBS if getattr(self, name) is not None]

    def of_selection(self, adata: AnnData) -> dict[str, Any]:
        """Return arguments of ``pp.select_genes``, which knows a structure with knobs by its key.

        Raises
        ------
        KeyError, TypeError, ValueError
            As ``pp.structure``.
        """
        found = self.arguments()
        if not self.knobs():
            return found
        glfs_bio.pp.structure(adata, **found, key_added=_NAMED)
        return {"use_rep": _NAMED, "random_state": self.seed}

    def of_panel(self, adata: AnnData, panel: object) -> str | None:
        """Compute the structure that options ask for, and return its key; None: they ask for none.

        A panel that is the key of a selection has the selection's parameters, where no option says
        otherwise.

        Raises
        ------
        KeyError, TypeError, ValueError
            As ``pp.structure``.
        """
        found = self.arguments()
        if not found:
            return None
        with progress():
            recorded = results.recorded_structure(adata, panel)
            glfs_bio.pp.structure(adata, **(recorded | found), key_added=_NAMED)
        return _NAMED


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a panel should reproduce.

    Attributes
    ----------
    preserve
        What to keep: structure, expression, a column of obs (labels, or numbers), a key of obsm, or
        a boolean column of var; structure, or what a selection was made for, if not given.
    cell_weights
        How much each cell counts: column of obs, numbers or labels.
    """

    preserve: Any = None
    cell_weights: str | None = None

    def of_panel(self, adata: AnnData, panel: object, structure: Structure) -> dict[str, Any]:
        """Return the argument ``preserve`` of functions of ``tl``, where anything is asked.

        What no option says is as in the selection, where the panel is one.

        Raises
        ------
        KeyError, TypeError, ValueError
            As :meth:`Structure.of_panel`.
        """
        use_rep = structure.of_panel(adata, panel)
        if self.cell_weights is None and use_rep is None:
            return given(self)
        if self.preserve is not None:
            target, weights = self.preserve, None
        else:
            target, weights = results.recorded_target(adata, panel)
        weights = weights if self.cell_weights is None else self.cell_weights
        return {"preserve": glfs_bio.Preserve(target, weights, use_rep)}
