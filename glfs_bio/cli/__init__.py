"""``glfs-bio``: gene selection from the shell."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from ._classify import classify
from ._compare import compare
from ._curve import curve
from ._demo import demo
from ._enrich import enrich
from ._evaluate import evaluate
from ._explain import explain
from ._export import export
from ._extend import extend
from ._markers import markers
from ._predict import predict
from ._rank import rank
from ._report import report
from ._run import known
from ._select import select
from ._stability import stability
from ._substitutes import substitutes

#: click's own, and the short one.
_SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings=_SETTINGS,
)


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option(help="Print the version and stop.")] = False,
) -> None:
    """Find the few genes that keep the structure of an expression matrix.

    Results go to stdout or to the files that are named, everything else to stderr.  Files appear
    whole or not at all.  In place of a file `-` is stdin or stdout.  Exit codes: 0 done, 1
    the data or a value cannot be used, 2 the command line cannot be understood.
    """
    if version:
        typer.echo(__version__)
        raise typer.Exit


for command in (
    select,
    rank,
    evaluate,
    extend,
    substitutes,
    explain,
    markers,
    compare,
    curve,
    stability,
    classify,
    predict,
    enrich,
    export,
    report,
    demo,
):
    app.command(context_settings=_SETTINGS)(known(command))
