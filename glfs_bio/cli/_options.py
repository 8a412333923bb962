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
#: Key of a structure with the parameters of the options.
_NAMED = "glfs_structure_named"

Source = Annotated[
    Path,
    typer.Argument(
        metavar="IN",
        help="Cells × genes: .h5ad, .zarr, .loom, .csv, .tsv, 10x .h5 or folder; - for stdin.",
    ),
    files.Reads(),
]
Panel = Annotated[
    Any,
    typer.Argument(
        metavar="PANEL",
        help="Panel: key of a selection, boolean column of var, file of genes (.txt, .csv, .tsv, "
        ".gmt, .xlsx), or names separated by commas, as CD3D,LYZ.",
    ),
    values.As(str, values.panel),
]
Method = Annotated[str, f"Method: {', '.join(METHODS)}."]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="File for the annotated cells: .h5ad or .zarr; - for .h5ad on stdout.",
    ),
    files.Writes(files.CELLS),
]
Table = Annotated[
    Path | None, "File for the table: .csv or .tsv.", files.Writes(tuple(files.TABLES))
]
Layer = Annotated[str | None, "Layer to use instead of X, or raw."]
Genes = Annotated[
    Any,
    "Genes, boolean columns of var, families such as mitochondrial, /patterns/, or @files of "
    "genes, separated by commas; may be repeated.",
    values.As(list[str] | None, values.genes),
]
Labels = Annotated[str | None, "Column of obs with labels, such as cell types."]
CountsLayer = Annotated[str | None, "Layer of raw counts, or X."]
MinScore = Annotated[float, "Minimum substitution score of a substitute."]
Missing = Annotated[str, "Action if a gene is missing: raise, warn or ignore."]
Symbols = Annotated[str | None, "Column of var with gene names."]
Key = Annotated[str, "Key of the selection."]
KeyAdded = Annotated[str, "Key of uns, and prefix of the columns."]
BatchKey = Annotated[str | None, "Column of obs with the batch."]
Backed = Annotated[bool, "Leave the matrix of an .h5ad in the file."]
Overwrite = Annotated[bool, "Replace existing files."]


def seed(text: str) -> Any:
    """The option of ``random_state``."""
    return typer.Option("--seed", help=text)


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Cells, and their preparation."""

    source: Source
    transpose: Annotated[
        bool | None,
        typer.Option(
            "--transpose/--no-transpose",
            help="The table has genes, or cells, in its rows.",
            show_default="cells, or an error if it looks otherwise",
        ),
    ] = None
    log1p: Annotated[bool, "Log-normalise the counts in X."] = False

    def load(self, *, backed: bool = False) -> AnnData:
        """Read them; for what is raised, see :func:`._files.load`."""
        return files.load(self.source, transpose=self.transpose, log1p=self.log1p, backed=backed)


@dataclass(frozen=True, kw_only=True)
class Written:
    """Files for annotated cells and a table; the table goes to stdout without a file."""

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
        """Write the cells, print the summary to stderr, and write the tables."""
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
    layer: Layer = None
    batch_key: Annotated[str | None, "Column of obs with the batch."] = None
    use_rep: Annotated[
        str | None, "Key of obsm, or of a stored structure. Default: from the matrix."
    ] = None
    neighbors_key: Annotated[
        str | None, "Key of uns with the graph. Default: nearest neighbours."
    ] = None
    n_comps: Annotated[
        int | None, "Number of principal components; 0 for full rank. Default: 50."
    ] = None
    n_neighbors: Annotated[
        int | None, "Number of neighbours, without a graph. Default: 15, fewer below 300 cells."
    ] = None
    lambda1: Annotated[float | None, "Weight λ1 of the graph. Default: 100.0."] = None
    random_state: Annotated[
        int | None,
        typer.Option("--seed", help="Seed of the structure and of all random steps. Default: 0."),
    ] = None

    @property
    def seed(self) -> int:
        """Seed of the random steps besides the structure."""
        return 0 if self.random_state is None else self.random_state

    def arguments(self) -> dict[str, Any]:
        """Those that are given."""
        found = given(self)
        return found | ({"n_comps": None} if self.n_comps == 0 else {})

    def knobs(self) -> list[str]:
        """Names of those that are given and that ``pp.select_genes`` does not have."""
        return [name for name in _KNOBS if getattr(self, name) is not None]

    def of_selection(self, adata: AnnData) -> dict[str, Any]:
        """Return arguments of ``pp.select_genes``, which knows a structure with knobs by its
        key.
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
    """Target of a panel.

    Attributes
    ----------
    preserve
        Target of the panel: structure, expression, a column of obs (labels or numbers), a key of
        obsm, or a boolean column of var; by default the target of the selection, or structure.
    cell_weights
        Column of obs with the weights of the cells, or with labels that get equal weights.
    """

    preserve: Any = None
    cell_weights: str | None = None

    def of_panel(self, adata: AnnData, panel: object, structure: Structure) -> dict[str, Any]:
        """Return the argument ``preserve`` of functions of ``tl``, where anything is asked.

        What no option says is as in the selection, where the panel is one.
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
