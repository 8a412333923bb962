"""What ``pip install`` is told."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
#: Methods of this package in the task for OpenProblems.
OURS = ("glfs_bio", "glfs_bio_labels")


def read(file: str) -> str:
    """A file of the repository; a source distribution has only some."""
    if not (ROOT / file).exists():
        pytest.skip(f"{file} is not here")
    return (ROOT / file).read_text("utf-8")


def test_pynndescent_is_one_that_scanpy_can_work_with():
    wanted = {one.name: one for one in map(Requirement, requires("glfs-bio") or ())}
    allowed = wanted["pynndescent"].specifier
    assert "0.6.0" in allowed
    assert "0.7.0" not in allowed  # sc.pp.neighbors fails above 8,192 cells


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("codemeta.json", r'^  "version": "(.*)",$'),
        ("packaging/conda/recipe.yaml", r"^  version: (\S+)$"),
        ("CHANGELOG.md", r"^## \[(\d\S*)\]"),
    ],
)
def test_the_version_is_the_same_everywhere(file, pattern):
    found = re.search(pattern, read(file), re.MULTILINE)
    assert found[1] == tomllib.loads(read("pyproject.toml"))["project"]["version"]


@pytest.mark.parametrize(
    "file",
    [
        *("packaging/conda/recipe.yaml", "packaging/scverse/meta.yaml", "CITATION.cff"),
        *("codemeta.json", ".github/ISSUE_TEMPLATE/config.yml", "r_bridge/glfsbio/DESCRIPTION"),
        *(f"packaging/openproblems/src/methods/{name}/config.vsh.yaml" for name in OURS),
    ],
)
def test_addresses_are_those_of_pyproject(file):
    """Of the project, that is: on the host of its repository."""
    urls = tomllib.loads(read("pyproject.toml"))["project"]["urls"]
    host = re.match(r"https://[^/]+/", urls["Repository"])[0]
    found = re.findall(rf"{re.escape(host)}[^\s\"',]*", read(file))
    assert found
    for address in found:
        assert address == urls["Repository"] or address.startswith(
            (urls["Documentation"], urls["Issues"])
        ), address


def test_the_entry_of_scverse_has_what_its_schema_asks_for():
    entry = yaml.safe_load(read("packaging/scverse/meta.yaml"))
    required = "name description project_home documentation_home install license tags category"
    assert {*required.split(), "contact"} <= set(entry)
    assert "version" not in entry
    recipe = yaml.safe_load(read("packaging/conda/recipe.yaml"))
    assert entry["contact"] == recipe["extra"]["recipe-maintainers"]
    assert re.fullmatch(r"10\.\d{4,9}/\S+", entry["publications"][0])


def test_forms_and_workflows_can_be_read():
    folder = ROOT / ".github"
    if not folder.exists():
        pytest.skip(".github is not here")
    for file in [*folder.rglob("*.yml"), ROOT / ".codecov.yaml"]:
        assert isinstance(yaml.safe_load(file.read_text("utf-8")), dict), file


def test_conda_installs_what_pip_does():
    recipe = read("packaging/conda/recipe.yaml").split("\n  run:\n")[1].split("\n\n")[0]
    bounds = {name: set(limits.split(",")) for name, limits in re.findall(r"- (\S+) (\S+)", recipe)}
    for line in tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]:
        wanted = Requirement(line)
        assert bounds[wanted.name] == {str(limit) for limit in wanted.specifier}, line
