"""``glfs-bio``: gene selection from the shell."""

from __future__ import annotations

import logging
import re
import sys
from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import anndata
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from . import __version__, pp
from .io import check_target, replacing
from .rankers import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
errors = Console(stderr=True)


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option(help="Print the version and stop.")] = False,
) -> None:
    """Find the few genes that keep the structure of an expression matrix."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
def select(
    source: Annotated[
        Path, typer.Argument(metavar="IN.h5ad", help="Cells × genes, logarithmised.")
    ],
    n_genes: Annotated[
        int | None, typer.Option(help="Genes to select; automatic if not given.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Annotated .h5ad.")] = None,
    genes: Annotated[
        Path | None, typer.Option(help="Selected genes, best first, one a line.")
    ] = None,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")] = "glfs",
    objective: Annotated[str, typer.Option(help="exact, printed or mse.")] = "exact",
    lam: Annotated[str | None, typer.Option(help="A value of λ, or line_search.")] = None,
    lambda1: Annotated[float, typer.Option(help="Weight of the graph.")] = 100.0,
    n_comps: Annotated[int, typer.Option(help="Principal components; 0 is full rank.")] = 50,
    use_rep: Annotated[str | None, typer.Option(help="Key of obsm, or X.")] = None,
    n_neighbors: Annotated[int, typer.Option(help="Neighbours, where there is no graph.")] = 15,
    layer: Annotated[str | None, typer.Option(help="Layer in place of X.")] = None,
    include: Annotated[
        list[str] | None, typer.Option(help="Gene, var column, or /pattern/; may be repeated.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Gene, var column, or /pattern/; may be repeated.")
    ] = None,
    batch_key: Annotated[str | None, typer.Option(help="Column of obs with the batch.")] = None,
    key_added: Annotated[str, typer.Option(help="Prefix of what is written.")] = "glfs",
    subset: Annotated[bool, typer.Option("--subset", help="Keep only selected genes.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the principal components.")] = 0,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Select genes; prints them, best first, unless --genes names a file.

    Example: glfs-bio select pbmc.h5ad --n-genes 50 -o panel.h5ad --genes genes.txt
    """
    with _told_in_one_line(debug=debug):
        for target in (output, genes):
            if target is not None:
                check_target(target, overwrite=overwrite)
        adata = anndata.read_h5ad(source)
        with _progress():
            pp.select_genes(
                adata,
                n_genes,
                method=method,
                objective=objective,
                lam=lam if lam in (None, "line_search") else float(lam),
                lambda1=lambda1,
                n_comps=n_comps or None,
                use_rep=use_rep,
                n_neighbors=n_neighbors,
                layer=layer,
                include=_patterns(include),
                exclude=_patterns(exclude),
                batch_key=batch_key,
                key_added=key_added,
                subset=subset,
                random_state=seed,
            )
        ranked = adata.var[adata.var[f"{key_added}_selected"]].sort_values(f"{key_added}_rank")
        listing = "".join(f"{gene}\n" for gene in ranked.index)
        if genes is None:
            sys.stdout.write(listing)
        else:
            with replacing(genes, overwrite=overwrite) as name:
                name.write_text(listing, encoding="utf-8")
        if output is not None:
            with replacing(output, overwrite=overwrite) as name:
                adata.write_h5ad(name)
        entry = adata.uns[key_added]
        told = [f"{len(ranked)} of {entry['n_tested']} genes"]
        if "lam" in entry:
            told.append(f"λ = {entry['lam']:.4g}")
        if "converged" in entry:
            told.append("converged" if entry["converged"] else "NOT converged")
        errors.print(", ".join(told))


def _patterns(genes: list[str] | None) -> list[str | re.Pattern[str]] | None:
    """``/…/`` is a pattern, anything else a name."""
    if genes is None:
        return None
    return [
        re.compile(gene[1:-1]) if len(gene) > 2 and gene[0] == gene[-1] == "/" else gene
        for gene in genes
    ]


@contextmanager
def _told_in_one_line(*, debug: bool) -> Iterator[None]:
    """Turn what a user can cause into one line on stderr and exit code 1."""
    try:
        yield
    except (ValueError, TypeError, KeyError, OSError) as error:
        if debug:
            raise
        told = error.args[0] if isinstance(error, KeyError) else error
        errors.print(
            f"glfs-bio: {' '.join(str(told).split())}", style="red", markup=False, soft_wrap=True
        )
        raise typer.Exit(1) from error


@contextmanager
def _progress() -> Iterator[None]:
    """Show the number of genes left while the path is walked."""
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    logger = logging.getLogger("glfs_bio.core.path")
    with Progress(*columns, console=errors, transient=True) as bar:
        handler = _GenesLeft(bar)
        before = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before)


class _GenesLeft(logging.Handler):
    """Moves a progress bar by the genes that the path has left behind."""

    def __init__(self, bar: Progress) -> None:
        super().__init__()
        self.bar = bar
        self.task = bar.add_task("principal components and graph", total=None)

    def emit(self, record: logging.LogRecord) -> None:
        left = record.n_genes
        total = self.bar.tasks[self.task].total or left
        self.bar.update(
            self.task, description=f"{left} genes left", total=total, completed=total - left
        )
