"""Options of commands, what their help says, and what becomes of the words of a line."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from refusals import refused
from typer.testing import CliRunner

import glfs_bio
from glfs_bio import Preserve
from glfs_bio._docs import REQUIRED, parameters_in_source
from glfs_bio.cli import COMMANDS, app, options, with_options
from glfs_bio.cli.call import door
from glfs_bio.cli.options import Option
from glfs_bio.errors import LOG_NORMALISE, InvalidValue

HEAVY = {"anndata", "matplotlib", "numba", "numpy", "pandas", "scanpy", "scipy", "sklearn"}


def helped(*words: str) -> str:
    result = CliRunner().invoke(
        app, [*words, "--help"], prog_name="glfs-bio", env={"COLUMNS": "500", "NO_COLOR": "1"}
    )
    assert result.exit_code == 0, result.output
    return result.stdout


def test_help_loads_nothing_heavy():
    code = f"""
import sys
from glfs_bio.cli import app
for line in ["--help"], ["select", "--help"], ["order", "--help"]:
    try:
        app(line)
    except SystemExit as end:
        assert end.code == 0
    assert not {HEAVY!r} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)


def test_help():
    """Of every command, and in the list of them its first sentence."""
    overview = helped()
    for name, command in COMMANDS.items():
        shown = helped(name)
        assert command.summary in overview
        assert f"Example: glfs-bio {name} " in shown
        assert not re.search(r"``|:\w+:`|\[\d+\]_", shown), name
        names = {word for param in with_options(name).params for word in param.opts}
        words = set(re.findall(r"(?<![\w-])--[a-z][a-z\d-]*", command.example))
        assert words <= names, name


def test_short_help_and_version():
    for line in ("-h", "select -h"):
        result = CliRunner().invoke(app, line.split())
        assert result.exit_code == 0
        assert "Usage" in result.stdout
    assert CliRunner().invoke(app, ["--version"]).stdout.strip() == glfs_bio.__version__


def test_options_are_the_parameters():
    """Required or not, and with the default that the help names."""
    help_of_select = " ".join(helped("select").split())
    assert "--n-neighbors" not in help_of_select
    assert "Default: structure." in help_of_select
    assert "mitochondrial" in help_of_select
    for name in ("explain", "stability", "classify", "enrich"):
        names = {option.name: option for option in COMMANDS[name].options()}
        for parameter in parameters_in_source(COMMANDS[name].function).values():
            option = names.get(parameter.name)
            if option is not None and option.name != "panel":
                assert (option.default is REQUIRED) == (parameter.default is REQUIRED)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["CD3D,CD8A", "LYZ"], ["CD3D", "CD8A", "LYZ"]),
        ([" CD3D, CD8A ,,"], ["CD3D", "CD8A"]),
        (
            ["/^A{1,2}/,ribosomal,/^B|C$/"],
            [re.compile("^A{1,2}"), "ribosomal", re.compile("^B|C$")],
        ),
        (["@panel.csv,LYZ"], ["CD3D", "CD4", "LYZ"]),
        (["A /// B"], ["A /// B"]),
    ],
)
def test_genes(tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "panel.csv").write_text("gene,n\nCD3D,1\nCD4,2\n")
    assert options.genes(words, "include") == expected


def test_panels():
    assert options.panels(["column"], "panel") == "column"
    assert options.panels(["CD3D, CD4"], "panel") == ["CD3D", "CD4"]
    words = ["ours=glfs", "there/vendor.csv", "CD3D,CD4"]
    expected = {"ours": "glfs", "vendor": "there/vendor.csv", "CD3D,CD4": ["CD3D", "CD4"]}
    assert options.panels(words, "panel") == expected
    with refused(InvalidValue, "panel"):
        options.panels(["a=glfs", "a=other"], "panel")


def test_targets():
    targets = {
        ("louvain",): "louvain",
        ("CD3D,",): ["CD3D"],
        ("NKG7,CD3D",): ["NKG7", "CD3D"],
        ("structure", "louvain=2"): {"structure": 1, "louvain": 2},
        ("X_pca=0.5",): {"X_pca": 0.5},
    }
    for words, expected in targets.items():
        assert options.preserve(list(words), "preserve") == expected
    for words in (["CD3D=x"], ["CD3D,LYZ=2"], ["louvain", "louvain=2"]):
        with refused(InvalidValue, "preserve"):
            options.preserve(words, "preserve")


class Called(Exception):
    """Ends a command where its function is called."""


@pytest.fixture
def arguments(on_cells, run, monkeypatch):
    """What a line gives to a function."""

    def arguments(line, function):
        def stop(_, **values):
            raise Called(values)

        with monkeypatch.context() as patched:
            patched.setattr(f"glfs_bio.{function}", stop)
            result = run(f"{line} --debug")
        assert isinstance(result.exception, Called), result.output
        return result.exception.args[0]

    return arguments


def test_limits(arguments, tmp_path):
    limits = {"per_group": {"T": [2, 10]}, "groups": {"T": ["CD3D", "CD3E"]}, "priority": "price"}
    (tmp_path / "limits.json").write_text(json.dumps(limits))
    expected = {"limits": glfs_bio.Limits(**limits)}
    assert arguments("select cells.h5ad --limits limits.json", "pp.select_genes") == expected
    line = """select cells.h5ad --limits '{"per_type": 1, "groupby": "louvain"}'"""
    expected = {"limits": glfs_bio.Limits(per_type=1, groupby="louvain")}
    assert arguments(line, "pp.select_genes") == expected


def test_platforms(arguments, cells, tmp_path):
    neighbours = ",0,1\n0,0,1\n1,1,1\n"
    (tmp_path / "neighbours.csv").write_text(neighbours)
    (tmp_path / "platform.toml").write_text(
        'failure = 0.1\nspillover = 0.3\nspillover_to = "neighbours.csv"\nefficiency = "cells.h5ad"'
        '\ngenes = "glfs_selected"'
    )
    line = "evaluate cells.h5ad glfs --platform platform.toml"
    platform = arguments(line, "tl.evaluate_panel")["platform"]
    assert (platform.failure, platform.spillover) == (0.1, 0.3)
    assert platform.genes == "glfs_selected"
    assert platform.spillover_to == {"0": {"1": 1.0}, "1": {"0": 0.5, "1": 0.5}}
    assert list(platform.efficiency.var_names) == list(cells.var_names)
    for lines in ("gene;efficiency\nLYZ;0.5\n", "gene;efficiency\nLYZ;0,5\n"):
        (tmp_path / "german.csv").write_text(lines)
        with refused(InvalidValue, "platform"):
            options.cells_or_table(str(tmp_path / "german.csv"), "platform")
    for text, expected in {
        "xenium_v1": glfs_bio.Platform("xenium_v1"),
        "xenium_v1=vendor.json": glfs_bio.Platform("xenium_v1", genes="vendor.json"),
    }.items():
        values = arguments(f"extend cells.h5ad glfs --platform {text}", "tl.extend_panel")
        assert values["platform"] == expected


def test_a_target_of_what_judges(arguments):
    fields = {"target": {"louvain": 2}, "cell_weights": "louvain", "use_rep": "mine"}
    line = f"explain cells.h5ad glfs --preserve '{json.dumps(fields)}'"
    expected = {"panel": "glfs", "preserve": Preserve(**fields)}
    assert arguments(line, "tl.explain_panel") == expected


OPTIONS = {
    "n_genes": Option("n_genes", type=int),
    "n_comps": Option("n_comps", type=int),
    "transpose": Option("transpose", type=bool, flags="--transpose/--no-transpose"),
    "overwrite": Option("overwrite", type=bool),
    "panel": Option("panel", flags="PANEL"),
    "log1p": Option("log1p", type=bool),
}


def test_words_of_the_shell():
    words = door(OPTIONS, {"tl.stability": "glfs-bio stability"})
    for text, expected in {
        "`n_genes=0` is bad: pass `overwrite=True`": "--n-genes 0 is bad: pass --overwrite",
        "run `glfs_bio.tl.stability(adata)` on `adata.var`": "run glfs-bio stability on var",
        "`transpose=False` is bad": "--no-transpose is bad",
        "pass `n_comps=None`, or `n_genes=None`": "pass --n-comps 0, or no --n-genes",
        "`panel=['CD3D', 'LYZ']` is bad": "PANEL CD3D,LYZ is bad",
        f"`adata` is raw: `{LOG_NORMALISE}`": "IN is raw: with --log1p",
        "`path='a.txt'` is not `'y'`": "a.txt is not y",
    }.items():
        assert words.show(text) == expected
