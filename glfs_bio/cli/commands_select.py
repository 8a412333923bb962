"""Commands that select genes: ``select``, ``rank``, ``extend`` and others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import glfs_bio

from .._signatures import kept
from ..errors import InvalidValue, arg
from ..methods import METHODS, OBJECTIVES
from . import document, files, values, words
from .command import Call, command
from .files import Cells, File, Overwrite, Stored, Table, Written
from .stderr import note

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData

#: All methods, of which the description in Python names those of the package.
_METHOD = replace(kept("pp.select_genes")["method"], text=f"Method: {', '.join(METHODS)}.")


@command("pp.select_genes", n_genes="-n --n-genes", method=_METHOD)
def select(
    cells: Cells,
    call: Call,
    also: Annotated[
        list[Path] | None,
        "Another dataset; may be repeated. Genes are matched by name, and each dataset is a "
        "batch. --output has the first dataset, with results for all.",
        File("r"),
    ] = None,
    lam: Annotated[
        str | None,
        "λ of the original GLFS: a number, or line_search.",
        values.As(str, values.number_or_search),
    ] = None,
    output: Annotated[
        Path | None,
        "-o --output",
        "File for the annotated cells: .h5ad or .zarr; - for .h5ad on stdout.",
        File("w", files.CELLS),
    ] = None,
    genes: Annotated[
        Path | None, "File for the selected genes, one per line, best first.", File("w")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Select genes; prints them, best first, unless --genes names a file.

    Example: glfs-bio select pbmc.h5ad --n-genes 50 -o panel.h5ad --genes genes.txt
    """
    if also and call.knobs:
        name = call.knobs[0]
        raise InvalidValue(name, call[name], "is for one dataset", f"leave out {arg('also')}")
    every = dict.fromkeys(map(str, (cells.source, *(also or ()))))
    if len(every) <= len(also or ()):
        raise InvalidValue("also", also, "repeats a file", "name each dataset once")
    objective = OBJECTIVES.made("objective", call["objective"], lam=lam)
    call.check(objective=objective)
    sets = {one: replace(cells, source=Path(one)).load() for one in every}
    adata = sets[str(cells.source)]
    call(sets if also else adata, objective=objective)
    key = call["key_added"]
    chosen = adata.var[adata.var[f"{key}_selected"]].sort_values(f"{key}_rank")
    names = chosen.index.to_frame(name="gene")
    if output is not None:
        files.put_cells(adata, output, overwrite=overwrite)
    call.show()
    if genes is not None or not files.is_one(output):
        called = words.in_symbols(names, adata, call["symbols"])["gene"]
        files.put_names(called, genes, overwrite=overwrite)


@command(
    "pp.select_genes",
    only=("method", "n_genes", "exclude", "ignore", "symbols", "missing"),
    method=_METHOD,
)
def rank(cells: Cells, call: Call, table: Table = None, overwrite: Overwrite = False) -> None:
    """Rank all genes by one method; prints gene, score, rank, weight and loss, best first.

    Example: glfs-bio rank pbmc.h5ad --method glfs --table ranking.csv
    """
    from .._anndata import read, results

    call.check()
    adata = cells.load()
    read.symbols(adata, call["symbols"])  # a missing column is reported before the work
    call(adata, key_added="ranking")
    frame = results.ranked(adata, "ranking", only="tested").rename_axis("gene").reset_index()
    frame = words.in_symbols(frame, adata, call["symbols"])
    frame["rank"] = frame["rank"].astype(int)
    note(f"{call['method']}: {call.said[0]}")
    columns = ["gene", "score", "rank", "weight", "loss"]
    files.put_table(frame[columns], table, overwrite=overwrite)


@command("tl.extend_panel", n_genes="-n --n-genes", drop=("--drop", values.AS["panel"]))
def extend(
    cells: Cells,
    call: Call,
    written: Written,
    genes: Annotated[
        Path | None, "File for the extended panel, one gene per line.", File("w")
    ] = None,
) -> None:
    """Add genes to a panel, or replace some; prints each added gene and what it adds as TSV.

    Genes of PANEL that are missing in the data stay in the panel, without a contribution.

    Example: glfs-bio extend panel.h5ad glfs --drop CD3D,LYZ,NKG7 --genes order.txt
    """
    from .._anndata import names, read

    adata = cells.load()
    entry = call(adata)
    added, symbols = entry["table"], call["symbols"]
    if genes is not None:
        panel = names.panel(adata, call["panel"], symbols=symbols, missing="ignore").names
        panel = [name for name in panel if name not in entry.get("dropped", ())]
        panel = dict.fromkeys([*panel, *added["gene"], *entry.get("absent", ())])
        called = read.symbols(adata, symbols).dropna().to_dict()
        files.put_names(
            [called.get(name, name) for name in panel], genes, overwrite=written.overwrite
        )
    written.put(adata, words.in_symbols(added, adata, symbols), *call.said)


@command("tl.stability", n_genes=None)
def stability(cells: Stored, call: Call, written: Written) -> None:
    """Repeat a selection on subsamples of the cells; prints frequencies as TSV.

    IN is an output of `glfs-bio select -o`, whose parameters are used.

    Example: glfs-bio stability panel.h5ad -o stable.h5ad --table frequencies.csv
    """
    from .._anndata import results

    adata = cells.load()
    call(adata)
    frame = _frequencies(adata, call["key"], results.last(adata, "stability"))
    written.put(adata, frame, *call.said)


def _frequencies(adata: AnnData, key: str, key_added: str) -> pd.DataFrame:
    """Return the candidate genes, the most frequent first; ties by rank."""
    columns = {
        "frequency": f"{key_added}_frequency",
        "consensus": f"{key_added}_consensus",
        "selected": f"{key}_selected",
        "rank": f"{key}_rank",
    }
    frame = adata.var[[*columns.values()]].set_axis([*columns], axis="columns")
    frame = frame.rename_axis("gene").reset_index().astype({"selected": bool})
    frame = frame.sort_values(["frequency", "rank"], ascending=[False, True], kind="stable")
    return frame.dropna(subset="frequency").drop(columns="rank")


_N_GENES = 25
_LABELS = "bulk_labels"


@command()
def demo(
    output: Annotated[Path, "-o --output", "Folder for the results."] = Path("glfs-demo"),
    overwrite: Overwrite = False,
) -> None:
    """Select 25 genes of 700 blood cells from scanpy; prints a table, needs no network.

    Example: glfs-bio demo -o demo
    """
    from .._files import check_target, replacing

    output.mkdir(exist_ok=True)
    h5ad, txt, png = (output / name for name in ("pbmc68k_panel.h5ad", "genes.txt", "panel.png"))
    for target in (h5ad, txt, png):
        check_target(target, overwrite=overwrite)

    import scanpy as sc
    from matplotlib import pyplot as plt

    scaled = sc.datasets.pbmc68k_reduced()
    cells = sc.AnnData(scaled.raw.X, obs=scaled.obs[[_LABELS]], var=scaled.raw.var)
    sc.pp.pca(cells, n_comps=50, random_state=0)
    sc.pp.neighbors(cells, random_state=0)
    glfs_bio.pp.select_genes(cells, _N_GENES)

    panel = cells[:, cells.var["glfs_selected"]].copy()
    variable = sc.pp.highly_variable_genes(
        cells, flavor="seurat", n_top_genes=_N_GENES, inplace=False
    )["highly_variable"].to_numpy()
    ranked = panel.var.sort_values("glfs_rank")[["glfs_loss", "glfs_rank"]]
    table = ranked.rename_axis("gene").reset_index()
    sets = {
        f"all {cells.n_vars} genes": cells,
        f"{_N_GENES} genes selected by glfs_bio": panel,
        f"{_N_GENES} highly variable genes": cells[:, variable],
    }
    accuracy = {name: _label_accuracy(subset) for name, subset in sets.items()}

    files.put_cells(panel, h5ad, overwrite=overwrite)
    glfs_bio.io.write_genes(cells, txt, overwrite=overwrite)
    with replacing(png, overwrite=overwrite) as file:
        glfs_bio.pl.panel(cells, _LABELS, save=file)
        plt.close()
    document.wrote("--output", h5ad, txt, png)
    if document.keep({"table": table, "accuracy": accuracy}):
        return
    typer.echo(table.to_string(index=False, float_format="{:.4g}".format))
    typer.echo(f"\nCells whose 15 nearest neighbours have the cell's label ({cells.n_obs} cells)")
    for name, share in accuracy.items():
        typer.echo(f"  {name:<30} {share:.3f}")
    typer.echo()
    for target in (h5ad, txt, png):
        typer.echo(f"wrote {target}")


def _label_accuracy(cells: AnnData, n_neighbors: int = 15) -> float:
    """Share of the cells whose nearest other cells have, by majority, the cell's own label."""
    import numpy as np
    import pandas as pd
    import scanpy as sc
    from sklearn.neighbors import NearestNeighbors

    if cells.n_vars > 30:
        coordinates = sc.pp.pca(cells, n_comps=30, copy=True).obsm["X_pca"]
    else:
        coordinates = cells.X.toarray()
    labels = cells.obs[_LABELS].cat.codes.to_numpy()
    neighbors = NearestNeighbors(n_neighbors=n_neighbors).fit(coordinates)
    votes = pd.DataFrame(labels[neighbors.kneighbors(return_distance=False)])
    return float(np.mean(votes.mode(axis=1)[0] == labels))
