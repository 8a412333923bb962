"""What ``pip install`` and registries are told."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
CONDA, SCVERSE = "packaging/conda/recipe.yaml", "packaging/scverse/meta.yaml"
#: What the recipe does not ask for: dask is rare, and conda-forge has no gseapy.
LEFT_OUT = {"dask", "gseapy"}


def read(file: str) -> str:
    """A file of the repository; a source distribution has only some."""
    if not (ROOT / file).exists():
        pytest.skip(f"{file} is not here")
    return (ROOT / file).read_text("utf-8")


def project() -> dict:
    """What pyproject.toml says of the project."""
    return tomllib.loads(read("pyproject.toml"))["project"]


def recipe() -> dict:
    """The recipe, with its variables filled in."""
    from jinja2 import Environment

    text = read(CONDA)
    template = Environment(variable_start_string="${{").from_string(text)
    return yaml.safe_load(template.render(yaml.safe_load(text)["context"]))


def required(lines: list[str]) -> Iterator[Requirement]:
    """Requirements, with those of the extras of the package in place of these."""
    told = project()
    for wanted in map(Requirement, lines):
        if wanted.name == told["name"]:
            for extra in wanted.extras:
                yield from required(told["optional-dependencies"][extra])
        else:
            yield wanted


def test_versions_and_facts_are_those_of_pyproject():
    told, citation, conda = project(), yaml.safe_load(read("CITATION.cff")), recipe()
    scverse = yaml.safe_load(read(SCVERSE))
    heading = re.search(r"^## \[(\d\S*)\]", read("CHANGELOG.md"), re.MULTILINE)
    versions = [heading[1], citation["version"], conda["package"]["version"]]
    assert versions == [told["version"]] * 3
    assert [told["name"]] * 2 == [conda["package"]["name"], scverse["name"]]
    assert conda["about"]["summary"] == told["description"]
    licences = [entry["license"] for entry in (citation, conda["about"], scverse)]
    assert licences == [told["license"]] * 3
    authors = [author["name"] for author in told["authors"]]
    assert [author["name"] for author in citation["authors"]] == authors


def test_addresses_are_those_of_pyproject():
    """Of the project, that is: on the host of its repository."""
    urls = project()["urls"]
    host = re.match(r"https://[^/]+/", urls["Repository"])[0]
    below = (urls["Documentation"], urls["Issues"])
    issues, description = ".github/ISSUE_TEMPLATE/config.yml", "r_bridge/glfsbio/DESCRIPTION"
    for file in ("CITATION.cff", issues, description, SCVERSE, CONDA):
        addresses = re.findall(rf"{re.escape(host)}[^\s\"',]*", read(file))
        assert addresses, file
        for address in addresses:
            assert address == urls["Repository"] or address.startswith(below), (file, address)
    paper = urls["Paper"].removeprefix("https://arxiv.org/abs/")
    assert all(paper in read(file) for file in ("CITATION.cff", SCVERSE))


def test_conda_installs_what_pip_does():
    told, conda = project(), recipe()
    wanted = {"python": SpecifierSet(told["requires-python"])}
    for one in required([*told["dependencies"], "glfs-bio[all]"]):
        if one.name not in LEFT_OUT:
            name = one.name.replace("matplotlib", "matplotlib-base")
            wanted[name] = wanted.get(name, SpecifierSet()) & one.specifier
    asked = dict(line.split() for line in conda["requirements"]["run"])
    assert {name: SpecifierSet(bounds) for name, bounds in asked.items()} == wanted
    scripts = [f"{name} = {call}" for name, call in told["scripts"].items()]
    assert conda["build"]["python"]["entry_points"] == scripts


def test_pynndescent_is_one_that_scanpy_can_work_with():
    wanted = {one.name: one for one in map(Requirement, requires("glfs-bio") or ())}
    allowed = wanted["pynndescent"].specifier
    assert "0.6.0" in allowed
    assert "0.7.0" not in allowed  # sc.pp.neighbors fails above 8,192 cells


def test_what_holds_a_finding_is_there():
    held_by = re.findall(r"`([\w/]+\.py)::(\w+)`", read("benchmarks/results/files.md"))
    gone = [name for file, name in held_by if f"def {name}(" not in read(f"tests/{file}")]
    assert held_by
    assert not gone


def test_workflows_can_be_read_and_pin_their_actions():
    """A tag can be moved to other code, a commit cannot; dependabot moves both."""
    folder = ROOT / ".github"
    if not folder.exists():
        pytest.skip(".github is not here")
    pins: dict[str, set[str]] = {}
    for file in folder.rglob("*.yml"):
        text = file.read_text("utf-8")
        assert isinstance(yaml.safe_load(text), dict), file
        for line in re.findall(r"\buses:\s*(.*)", text):
            pinned = re.fullmatch(r"([\w./-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)", line)
            assert pinned, f"{file.name}: {line}"
            pins.setdefault(pinned[1], set()).add(pinned[2])
    assert pins
    assert all(len(versions) == 1 for versions in pins.values()), pins
