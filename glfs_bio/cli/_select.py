"""``glfs-bio select``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import glfs_bio

from ..errors import InvalidValue
from ..methods import OBJECTIVES
from . import _files as files
from . import _options as options
from . import _results as results
from . import _values as values
from ._command import command, given
from ._stderr import note, progress

if TYPE_CHECKING:
    from anndata import AnnData


@dataclass(frozen=True, kw_only=True)
class DataSets(options.Cells):
    """One data set, or several."""

    backed: options.Backed = False
    also: Annotated[
        list[Path] | None,
        "Another data set; may be repeated. Genes are matched by name, and each set is a "
        "batch. The columns of --output, which has the first set, are for all.",
        files.Reads(),
    ] = None

    def load_all(self) -> dict[str, AnnData]:
        """Read every set, by the name of its file.

        Raises
        ------
        ValueError
            One that is given twice.
        """
        every = dict.fromkeys(map(str, (self.source, *(self.also or ()))))
        if len(every) <= len(self.also or ()):
            raise InvalidValue(
                "also", self.also, "names a file that is given already", "name each data set once"
            )
        return {name: replace(self, source=Path(name)).load(backed=self.backed) for name in every}


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``pp.select_genes``."""

    n_genes: Annotated[
        int | None, typer.Option("-n", "--n-genes", help="Genes to select; automatic if not given.")
    ] = None
    method: options.Method = "glfs"
    objective: Annotated[str, "error, or the paper's: exact or printed."] = "error"
    lam: Annotated[
        Any,
        "Of the paper's: a value of λ, or line_search.",
        values.As(str | None, values.number_or_search),
    ] = None
    include: options.Genes = None
    exclude: options.Genes = None
    symbols: options.Symbols = None
    missing: options.Missing = "raise"
    across: Annotated[str, "mean over the batches or data sets, or worst: the least of them."] = (
        "mean"
    )
    key_added: Annotated[str, "Prefix of what is written."] = "glfs"
    as_highly_variable: Annotated[
        bool, "Write the selection to highly_variable of var too, for scanpy."
    ] = False
    subset: Annotated[bool, "Keep only selected genes."] = False


@dataclass(frozen=True, kw_only=True)
class Selected:
    """Where cells and genes go."""

    output: options.Output = None
    genes: Annotated[Path | None, "Selected genes, best first, one a line.", files.Writes()] = None
    overwrite: options.Overwrite = False


@command
def select(
    cells: DataSets,
    arguments: Arguments,
    target: options.Target,
    structure: options.Structure,
    limits: glfs_bio.Limits,
    platform: glfs_bio.Platform,
    selected: Selected,
) -> None:
    """Select genes; prints them, best first, unless --genes names a file.

    Example: glfs-bio select pbmc.h5ad --n-genes 50 -o panel.h5ad --genes genes.txt
    """
    if cells.also and (knobs := structure.knobs()):
        raise InvalidValue(
            knobs[0], getattr(structure, knobs[0]), "is for one data set", "leave out {arg:also}"
        )
    sets = cells.load_all()
    adata = sets[str(cells.source)]
    keywords = given(arguments, target)
    lam = keywords.pop("lam", None)
    keywords["objective"] = OBJECTIVES.made("objective", arguments.objective, lam=lam)
    with progress():
        glfs_bio.pp.select_genes(
            sets if cells.also else adata,
            **keywords,
            **(structure.arguments() if cells.also else structure.of_selection(adata)),
            limits=limits,
            platform=platform,
        )
    from .._anndata import selection

    key = arguments.key_added
    ranked = adata.var[adata.var[f"{key}_selected"]].sort_values(f"{key}_rank")
    called = selection.names(adata, arguments.symbols).fillna(adata.var_names.to_series())
    if selected.output is not None:
        files.put_cells(adata, selected.output, overwrite=selected.overwrite)
    note(results.summary(adata.uns[key]))
    if selected.genes is not None or not files.is_one(selected.output):
        files.put_names(called.loc[ranked.index], selected.genes, overwrite=selected.overwrite)
