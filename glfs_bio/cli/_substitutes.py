"""``glfs-bio substitutes``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

import glfs_bio

from . import _options as options
from . import _results as results
from . import _values as values
from ._command import command, given
from ._stderr import progress


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``tl.substitutes``."""

    genes: Annotated[
        Any,
        "Genes of the panel to replace, separated by commas, or @files; may be repeated. "
        "Default: each gene, one at a time.",
        values.As(list[str] | None, values.genes),
    ] = None
    n: Annotated[int, typer.Option("-n", "--n", help="Maximum number of substitutes per gene.")] = 5
    exclude: options.Genes = None
    min_score: options.MinScore = 0.5
    symbols: options.Symbols = None
    key_added: options.KeyAdded = "glfs_substitutes"


@command
def substitutes(
    cells: options.Cells,
    panel: options.Panel,
    target: options.Target,
    arguments: Arguments,
    structure: options.Structure,
    written: options.Written,
) -> None:
    """Find genes that can replace a gene of a panel; prints them as TSV, best first.

    Example: glfs-bio substitutes pbmc.h5ad panel.txt --genes CD3D,LYZ
    """
    adata = cells.load()
    preserve = target.of_panel(adata, panel, structure)
    with progress():
        glfs_bio.tl.substitutes(adata, panel, **given(arguments), **preserve)
    frame = adata.uns[arguments.key_added]["table"]
    entry = adata.uns[arguments.key_added]
    none, every = entry["irreplaceable"], entry["groups"]["gene"]
    summary = f"{len(every) - len(none)} of {len(every)} genes have a substitute"
    shown = results.called(frame, adata, arguments.symbols)
    written.put(adata, shown.replace({"substitute": {"": "none"}}), summary)
