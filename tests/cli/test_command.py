"""Options of commands, and what their help says."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields

import anndata as ad
import pytest
from typer.testing import CliRunner

import glfs_bio
from glfs_bio._signatures import REQUIRED, parameters
from glfs_bio.cli import COMMANDS, app, values, with_options
from glfs_bio.errors import InvalidType
from glfs_bio.methods import METHODS

HEAVY = {"anndata", "matplotlib", "numba", "numpy", "pandas", "scanpy", "scipy", "sklearn"}
#: Commands, and the functions that they call.
FUNCTIONS = {
    "select": glfs_bio.pp.select_genes,
    "evaluate": glfs_bio.tl.evaluate_panel,
    "extend": glfs_bio.tl.extend_panel,
    "substitutes": glfs_bio.tl.substitutes,
    "replace": glfs_bio.tl.replace_genes,
    "explain": glfs_bio.tl.explain_panel,
    "gene": glfs_bio.tl.explain_gene,
    "prove": glfs_bio.tl.prove_panel,
    "markers": glfs_bio.tl.markers,
    "compare": glfs_bio.tl.compare_panels,
    "curve": glfs_bio.tl.curve,
    "stability": glfs_bio.tl.stability,
    "classify": glfs_bio.tl.classify,
    "predict": glfs_bio.tl.predict,
    "enrich": glfs_bio.tl.enrich,
    "order": glfs_bio.tl.order_panel,
}
#: Those that need the structure.
WITH_STRUCTURE = {
    "select",
    "rank",
    "evaluate",
    "extend",
    "substitutes",
    "replace",
    "explain",
    "gene",
    "prove",
    "compare",
    "curve",
}
#: Parameters that the shell has otherwise: --layer raw, -o, arguments, or what `select` was given.
ELSEWHERE = {"adata", "inplace", "use_raw", "limits", "platform"}
LEFT_OUT = {"stability": {"n_genes"}}


def helped(*words: str) -> str:
    result = CliRunner().invoke(
        app, [*words, "--help"], prog_name="glfs-bio", env={"COLUMNS": "500", "NO_COLOR": "1"}
    )
    assert result.exit_code == 0, result.output
    return result.stdout


def named(name: str) -> set[str]:
    """All names of the options of a command."""
    command = with_options(name)
    return {
        "--help",
        *(one for option in command.params for one in (*option.opts, *option.secondary_opts)),
    }


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


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_first(name):
    first, *_ = with_options(name).help.split("\n\n")
    assert " ".join(first.split()) in helped()


@pytest.mark.parametrize("line", ["-h", "select -h", "compare -h"])
def test_short_help(line):
    result = CliRunner().invoke(app, line.split())
    assert result.exit_code == 0
    assert "Usage" in result.stdout


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_options_are_the_parameters(name):
    given = {one.name: one for one in with_options(name).params}
    for one in parameters(FUNCTIONS[name]).values():
        if one.name in ELSEWHERE | LEFT_OUT.get(name, set()):
            continue
        option = given["counts" if (name, one.name) == ("order", "counts_layer") else one.name]
        assert option.required == (one.default is REQUIRED or one.name in {"panel", "panels"})
        shown = one.default not in (REQUIRED, None, False) and option.param_type_name == "option"
        if shown and one.name not in {"preserve", "random_state"}:
            several = isinstance(one.default, tuple)
            default = ",".join(one.default) if several else one.default
            assert f"Default: {default}." in option.help, one.name


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name):
    shown = helped(name)
    assert f"Example: glfs-bio {name} " in shown
    assert ("Structure of the cells" in shown) == (name in WITH_STRUCTURE)
    assert not re.search(r"``|:\w+:`|\[\d+\]_", shown)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_options_that_exist(name):
    command = with_options(name)
    for text in (command.help, *(one.help or "" for one in command.params)):
        for other, option in re.findall(r"(?:glfs-bio (\w+) )?(?<![\w-])(--?[a-z][a-z\d-]*)", text):
            assert option in named(other or name), (option, text)


def test_one_name_means_one_thing():
    """``--genes`` is a file to write, ``--key`` a selection, and PANEL any panel."""
    said: dict[str, set[str]] = {}
    for name in COMMANDS:
        for one in with_options(name).params:
            said.setdefault(max(one.opts, key=len), set()).add(one.help.partition(". ")[0])
    assert all(text.startswith("File for the ") for text in said["--genes"])
    assert said["--key"] == {"Key of the selection"}
    assert len(said["panel"]) == 1


def test_every_limit_is_an_option():
    limits = {f"--{field.name.replace('_', '-')}" for field in fields(glfs_bio.Limits)}
    for name in ("select", "extend", "curve", "order"):
        assert named(name) >= limits | {"--counts-layer", "--cost", "--budget"}
        assert limits <= set(helped(name).split())


@pytest.mark.parametrize("name", ["select", "rank"])
def test_help_names_the_methods(name):
    assert all(method in helped(name) for method in METHODS)


def test_the_reference_of_an_order_needs_what_its_help_says():
    (said,) = [line for line in helped("order").splitlines() if "--reference " in line]
    assert "of --labels and --counts." in said


@pytest.mark.filterwarnings("default::UserWarning")
def test_predict_has_the_option_that_it_advises(tmp_path, monkeypatch, clusters):
    monkeypatch.chdir(tmp_path)
    cells = ad.AnnData(clusters, obs={"group": [*"abc"] * 30})
    glfs_bio.tl.classify(cells, "group", n_genes=3)
    glfs_bio.io.write_classifier(cells, "model.json")
    gene = cells.uns["glfs_class"]["genes"][0]
    cells[:, cells.var_names != gene].copy().write_h5ad("cells.h5ad")
    line = "predict cells.h5ad model.json"
    told = CliRunner().invoke(app, line.split()).stderr
    assert "--missing warn" in told
    result = CliRunner().invoke(app, [*line.split(), "--missing", "warn"])
    assert result.exit_code == 0, result.stderr


def test_a_type_that_no_option_can_have():
    with pytest.raises(InvalidType):
        values.written("it", "DataFrame")
