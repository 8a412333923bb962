"""Options of commands, and what their help says."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from operator import attrgetter

import pytest
from typer.testing import CliRunner

import glfs_bio
from glfs_bio._signatures import REQUIRED, parameters
from glfs_bio.cli import COMMANDS, app, functions, values, with_options
from glfs_bio.errors import InvalidType
from glfs_bio.methods import METHODS

HEAVY = {"anndata", "matplotlib", "numba", "numpy", "pandas", "scanpy", "scipy", "sklearn"}
#: Commands that have all parameters of their functions.
FUNCTIONS = {
    name: attrgetter(function)(glfs_bio)
    for name, function in functions().items()
    if name not in {"rank", "efficiency", "export", "report", "demo"}
}
#: Those that need the structure.
WITH_STRUCTURE = {
    *("select", "rank", "evaluate", "extend", "substitutes", "replace", "explain", "gene"),
    *("prove", "compare", "curve"),
}
#: Parameters that the shell has otherwise: --layer raw, -o, arguments, or what `select` was given.
ELSEWHERE = {"adata", "inplace", "limits", "platform"}
LEFT_OUT = {"stability": {"n_genes"}}
#: Parameters whose default the help writes otherwise.
NO_DEFAULT = {"preserve", "random_state"}


def helped(*words: str) -> str:
    result = CliRunner().invoke(
        app, [*words, "--help"], prog_name="glfs-bio", env={"COLUMNS": "500", "NO_COLOR": "1"}
    )
    assert result.exit_code == 0, result.output
    return result.stdout


def names_of_options(name: str) -> set[str]:
    """All names of the options of a command."""
    params = with_options(name).params
    names = [name for option in params for name in (*option.opts, *option.secondary_opts)]
    return {"--help", *names}


def test_help_loads_nothing_heavy():
    code = f"""
import sys
from glfs_bio.cli import app
heavy = {HEAVY!r}
for line in ["--help"], ["select", "--help"], ["order", "--help"]:
    try:
        app(line)
    except SystemExit as end:
        assert end.code == 0
    assert not heavy & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)


def test_help():
    """Of every command, and in the list of them its first sentence."""
    listed, wrong = helped(), []
    for name in COMMANDS:
        first = " ".join(with_options(name).help.partition("\n\n")[0].split())
        shown = helped(name)
        is_right = (
            first in listed,
            f"Example: glfs-bio {name} " in shown,
            ("Structure of the cells" in shown) == (name in WITH_STRUCTURE),
            not re.search(r"``|:\w+:`|\[\d+\]_", shown),
        )
        if not all(is_right):
            wrong.append((name, is_right))
    assert not wrong
    assert all(method in helped("select") for method in METHODS)


def test_short_help_and_version():
    for line in ("-h", "select -h"):
        result = CliRunner().invoke(app, line.split())
        assert result.exit_code == 0
        assert "Usage" in result.stdout
    assert CliRunner().invoke(app, ["--version"]).stdout.strip() == glfs_bio.__version__
    assert CliRunner().invoke(app, ["--no-version"]).exit_code == 2


def test_the_options_are_the_parameters():
    """Required or not, and with the default that the help names."""
    wrong = []
    for name, function in FUNCTIONS.items():
        options = {option.name: option for option in with_options(name).params}
        for one in parameters(function).values():
            if one.name in ELSEWHERE | LEFT_OUT.get(name, set()):
                continue
            called = "counts" if (name, one.name) == ("order", "counts_layer") else one.name
            option = options[called]
            if option.required != (one.default is REQUIRED or one.name in {"panel", "panels"}):
                wrong.append((name, one.name, "required"))
            shown = one.default not in (REQUIRED, None, False)
            if shown and option.param_type_name == "option" and one.name not in NO_DEFAULT:
                several = isinstance(one.default, tuple)
                default = ",".join(one.default) if several else one.default
                if f"Default: {default}." not in option.help:
                    wrong.append((name, one.name, "default"))
    assert not wrong


def test_help_names_options_that_exist():
    wrong = []
    for name in COMMANDS:
        command = with_options(name)
        for text in (command.help, *(option.help or "" for option in command.params)):
            for other, option in re.findall(
                r"(?:glfs-bio (\w+) )?(?<![\w-])(--?[a-z][a-z\d-]*)", text
            ):
                if option not in names_of_options(other or name):
                    wrong.append((name, option, text))
    assert not wrong


def test_every_limit_is_an_option():
    limits = {f"--{field.name.replace('_', '-')}" for field in fields(glfs_bio.Limits)}
    for name in ("select", "extend", "curve", "order"):
        assert names_of_options(name) >= limits | {"--counts-layer", "--cost", "--budget"}
        assert limits <= set(helped(name).split())


def test_a_type_that_no_option_can_have():
    with pytest.raises(InvalidType):
        values.written("it", "DataFrame")
