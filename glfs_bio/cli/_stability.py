"""``glfs-bio stability``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import glfs_bio

from . import _files as files
from . import _messages as messages
from . import _options as options

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData


def stability(
    source: options.Source,
    key: options.Key = "glfs",
    output: options.Output = None,
    table: options.Table = None,
    n_resamples: Annotated[int, typer.Option(help="Number of parts of the cells.")] = 20,
    fraction: Annotated[float, typer.Option(help="Share of the cells in a part.")] = 0.5,
    n_jobs: Annotated[int, typer.Option(help="Processes; -1 is one a core.")] = 1,
    key_added: Annotated[
        str | None,
        typer.Option(help="Prefix of what is written.", show_default="KEY_stability"),
    ] = None,
    overwrite: options.Overwrite = False,
    seed: Annotated[
        int | None,
        typer.Option(help="Seed of the parts.", show_default="that of the selection"),
    ] = None,
    debug: options.Debug = False,
) -> None:
    """Repeat a selection on parts of the cells; prints how often each gene is selected, with tabs.

    IN holds a selection: what `glfs-bio select -o` wrote.  Its parameters are used again.

    Example: glfs-bio stability panel.h5ad -o stable.h5ad --table frequencies.csv
    """
    with messages.told_in_one_line(debug=debug):
        files.check_files(source, cells=output, table=table, overwrite=overwrite)
        adata = files.load(source)
        key_added = f"{key}_stability" if key_added in {None, key} else key_added
        glfs_bio.tl.stability(
            adata,
            key=key,
            n_resamples=n_resamples,
            fraction=fraction,
            n_jobs=n_jobs,
            key_added=key_added,
            random_state="recorded" if seed is None else seed,
            show_progress=messages.errors.is_terminal,
        )
        frame = _frequencies(adata, key, key_added)
        if output is not None:
            files.put_cells(adata, output, overwrite=overwrite)
        entry = adata.uns[key_added]
        messages.note(
            f"{n_resamples} selections on {entry['n_cells']} of {adata.n_obs} cells, "
            f"mean Jaccard index {entry['mean_jaccard']:.2f}, "
            f"{(frame['selected'] & frame['consensus']).sum()} of {frame['selected'].sum()} genes "
            "in the consensus panel"
        )
        files.put_table(frame, table, overwrite=overwrite)


def _frequencies(adata: AnnData, key: str, key_added: str) -> pd.DataFrame:
    """Tested genes, the most frequent first, of equals the best of the selection first."""
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
