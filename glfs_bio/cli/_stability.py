"""``glfs-bio stability``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import glfs_bio

from . import _files as files
from . import _options as options
from ._command import command, given

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``tl.stability``."""

    key: options.Key = "glfs"
    n_resamples: Annotated[int, "Number of subsamples."] = 20
    fraction: Annotated[float, "Share of the cells in a subsample."] = 0.5
    n_jobs: Annotated[int, "Number of processes; -1 for one per core."] = 1
    key_added: Annotated[
        str | None, "Key of uns, and prefix of the columns. Default: KEY_stability."
    ] = None
    random_state: Annotated[
        int | None, options.seed("Seed of the subsamples. Default: as in the selection.")
    ] = None


@command
def stability(source: options.Source, arguments: Arguments, written: options.Written) -> None:
    """Repeat a selection on subsamples of the cells; prints frequencies as TSV.

    IN is an output of `glfs-bio select -o`, whose parameters are used.

    Example: glfs-bio stability panel.h5ad -o stable.h5ad --table frequencies.csv
    """
    adata = files.load(source)
    key_added = arguments.key_added
    if key_added is None or key_added == arguments.key:
        key_added = f"{arguments.key}_stability"
    keywords = {"random_state": "recorded"} | given(arguments) | {"key_added": key_added}
    glfs_bio.tl.stability(adata, **keywords)
    frame = _frequencies(adata, arguments.key, key_added)
    entry = adata.uns[key_added]
    summary = (
        f"{arguments.n_resamples} selections on {entry['n_cells']} of {adata.n_obs} cells, "
        f"mean Jaccard index {entry['mean_jaccard']:.2f}, "
        f"{(frame['selected'] & frame['consensus']).sum()} of {frame['selected'].sum()} genes "
        "in the consensus panel"
    )
    written.put(adata, frame, summary)


def _frequencies(adata: AnnData, key: str, key_added: str) -> pd.DataFrame:
    """Return the candidate genes, the most frequent first; ties by rank."""
    import pandas as pd

    frame = pd.DataFrame(
        {
            "gene": adata.var_names,
            "frequency": adata.var[f"{key_added}_frequency"].to_numpy(),
            "consensus": adata.var[f"{key_added}_consensus"].to_numpy(),
            "selected": adata.var[f"{key}_selected"].to_numpy(dtype=bool),
            "rank": adata.var[f"{key}_rank"].to_numpy(),
        }
    )
    frame = frame.sort_values(["frequency", "rank"], ascending=[False, True], kind="stable")
    return frame.dropna(subset="frequency").drop(columns="rank")
