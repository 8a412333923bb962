"""``glfs-bio explain``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import glfs_bio

from . import _options as options
from . import _results as results
from ._command import command, given
from ._stderr import progress


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``tl.explain_panel``."""

    labels: options.Labels = None
    n_labels: Annotated[int, "Most labels to name for a gene."] = 3
    exclude: options.Genes = None
    symbols: options.Symbols = None
    key_added: options.KeyAdded = "glfs_explanation"


@command
def explain(
    cells: options.Cells,
    panel: options.Panel,
    target: options.Target,
    arguments: Arguments,
    structure: options.Structure,
    written: options.Written,
) -> None:
    """Say why each gene is in a panel: what is lost without it, whom it serves, its substitute.

    Example: glfs-bio explain pbmc.h5ad panel.txt --labels cell_type --table why.tsv
    """
    adata = cells.load()
    preserve = target.of_panel(adata, panel, structure)
    with progress():
        glfs_bio.tl.explain_panel(adata, panel, **given(arguments), **preserve)
    entry = adata.uns[arguments.key_added]
    frame = results.called(entry["table"], adata, arguments.symbols)
    least, most = frame.loc[frame["loss"].idxmin()], frame.loc[frame["loss"].idxmax()]
    summary = (
        f"{len(frame)} genes preserve {results.preserved(entry, frame['preserved'].iloc[-1])}; "
        f"most is lost without {most['gene']} ({results.percent(most['loss'])}), "
        f"least without {least['gene']} ({results.percent(least['loss'])})"
    )
    written.put(adata, frame, summary)
