"""``glfs-bio curve``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import glfs_bio

from . import _options as options
from . import _results as results
from ._command import command, given
from ._stderr import progress

if TYPE_CHECKING:
    import pandas as pd

#: Preserved shares for which the summary has the panel size.
_SHARES = (0.25, 0.5, 0.9)


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``tl.curve``."""

    max_genes: Annotated[int, "Number of genes of the largest panel."] = 200
    labels: options.Labels = None
    sizes: Annotated[
        list[int] | None,
        "Panel size for the prediction of labels; may be repeated. Default: 5 to --max-genes.",
    ] = None
    include: options.Genes = None
    exclude: options.Genes = None
    symbols: options.Symbols = None
    key_added: options.KeyAdded = "glfs_curve"


@command
def curve(
    cells: options.Cells,
    target: options.Target,
    arguments: Arguments,
    structure: options.Structure,
    limits: glfs_bio.Limits,
    written: options.Written,
) -> None:
    """Compute the preserved structure of every panel size; prints a table as TSV.

    Example: glfs-bio curve pbmc.h5ad --max-genes 100 --labels cell_type --table curve.tsv
    """
    adata = cells.load()
    preserve = target.of_panel(adata, None, structure)
    with progress():
        glfs_bio.tl.curve(
            adata,
            **given(arguments),
            **preserve,
            limits=limits,
        )
    frame = results.called(adata.uns[arguments.key_added]["table"], adata, arguments.symbols)
    written.put(adata, frame, _summary(frame))


def _summary(frame: pd.DataFrame) -> str:
    """Return the panel sizes for some preserved shares."""
    parts = [
        f"{frame['n_genes'][(frame['preserved'] >= share).idxmax()]} genes preserve "
        f"{results.percent(share)}"
        for share in _SHARES
        if (frame["preserved"] >= share).any()
    ]
    last = frame.iloc[-1]
    return "; ".join(
        [*parts, f"{last['n_genes']} genes preserve {results.percent(last['preserved'])}"]
    )
