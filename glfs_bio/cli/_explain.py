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
    n_labels: Annotated[int, "Maximum number of labels per gene."] = 3
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
    """Explain each gene of a panel: contribution, labels, substitute; prints TSV.

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
        f"largest contribution {most['gene']} ({results.percent(most['loss'])}), "
        f"smallest {least['gene']} ({results.percent(least['loss'])})"
    )
    written.put(adata, frame, summary)
