"""``glfs-bio select``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import glfs_bio

from ..errors import InvalidValue, arg
from ..methods import OBJECTIVES
from . import _files as files
from . import _options as options
from . import _values as values
from ._command import command, given
from ._stderr import note, progress

if TYPE_CHECKING:
    from anndata import AnnData


@dataclass(frozen=True, kw_only=True)
class DataSets(options.Cells):
    """One dataset, or several."""

    backed: options.Backed = False
    also: Annotated[
        list[Path] | None,
        "Another dataset; may be repeated. Genes are matched by name, and each dataset is a "
        "batch. --output has the first dataset, with results for all.",
        files.Reads(),
    ] = None

    def load_all(self) -> dict[str, AnnData]:
        """Read every set, by the name of its file."""
        every = dict.fromkeys(map(str, (self.source, *(self.also or ()))))
        if len(every) <= len(self.also or ()):
            raise InvalidValue("also", self.also, "repeats a file", "name each dataset once")
        return {name: replace(self, source=Path(name)).load(backed=self.backed) for name in every}


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``pp.select_genes``."""

    n_genes: Annotated[
        int | None,
        typer.Option("-n", "--n-genes", help="Number of genes. Default: chosen automatically."),
    ] = None
    method: options.Method = "glfs"
    objective: Annotated[str, "Objective: error, or for the original GLFS exact or printed."] = (
        "error"
    )
    lam: Annotated[
        Any,
        "λ of the original GLFS: a number, or line_search.",
        values.As(str | None, values.number_or_search),
    ] = None
    include: options.Genes = None
    exclude: options.Genes = None
    symbols: options.Symbols = None
    missing: options.Missing = "raise"
    across: Annotated[str, "Batches that count: mean (all) or worst."] = "mean"
    key_added: Annotated[str, "Key of uns, and prefix of the columns."] = "glfs"
    as_highly_variable: Annotated[
        bool, "Write the selection to var[highly_variable] too, for scanpy."
    ] = False
    subset: Annotated[bool, "Remove genes that are not selected."] = False


@dataclass(frozen=True, kw_only=True)
class Selected:
    """Files for cells and genes."""

    output: options.Output = None
    genes: Annotated[
        Path | None, "File for the selected genes, one per line, best first.", files.Writes()
    ] = None
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
            knobs[0], getattr(structure, knobs[0]), "is for one dataset", f"leave out {arg('also')}"
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
    from .._anndata import read
    from . import _results

    key = arguments.key_added
    ranked = adata.var[adata.var[f"{key}_selected"]].sort_values(f"{key}_rank")
    called = read.symbols(adata, arguments.symbols).fillna(adata.var_names.to_series())
    if selected.output is not None:
        files.put_cells(adata, selected.output, overwrite=selected.overwrite)
    note(_results.summary(adata.uns[key]))
    if selected.genes is not None or not files.is_one(selected.output):
        files.put_names(called.loc[ranked.index], selected.genes, overwrite=selected.overwrite)
