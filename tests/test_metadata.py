"""What ``pip install`` is told."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


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
        ("packaging/scverse/meta.yaml", r"^version: (\S+)$"),
        ("CHANGELOG.md", r"^## \[(\d\S*)\]"),
    ],
)
def test_the_version_is_the_same_everywhere(file, pattern):
    found = re.search(pattern, read(file), re.MULTILINE)
    assert found[1] == tomllib.loads(read("pyproject.toml"))["project"]["version"]


def test_conda_installs_what_pip_does():
    recipe = read("packaging/conda/recipe.yaml").split("\n  run:\n")[1].split("\n\n")[0]
    bounds = {name: set(limits.split(",")) for name, limits in re.findall(r"- (\S+) (\S+)", recipe)}
    for line in tomllib.loads(read("pyproject.toml"))["project"]["dependencies"]:
        wanted = Requirement(line)
        assert bounds[wanted.name] == {str(limit) for limit in wanted.specifier}, line
