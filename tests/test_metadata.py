"""What ``pip install`` and registries are told."""

from __future__ import annotations

import json
import re
import string
import tomllib
from functools import reduce
from importlib.metadata import requires
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
#: Methods of this package in the task for OpenProblems.
OURS = ("glfs_bio", "glfs_bio_labels")
SCHEMAS = json.loads(Path(__file__).with_name("registries.json").read_text("utf-8"))
REGISTERED = [file for file in SCHEMAS if not file.startswith("$")]
BIOTOOLS = "packaging/biotools/glfs-bio.json"
SCVERSE = "packaging/scverse/meta.yaml"
#: What a recipe does not ask for: dask and loom files are rare, and gseapy is on bioconda alone.
RECIPES = {
    "packaging/conda/recipe.yaml": {"dask", "gseapy", "loompy"},
    "packaging/bioconda/meta.yaml": {"dask", "loompy"},
}
#: Normalised labels to which PyPI gives a picture, those of a paper aside.
WELL_KNOWN = {"changelog", "documentation", "funding", "homepage", "issues", "repository", "source"}


def read(file: str) -> str:
    """A file of the repository; a source distribution has only some."""
    if not (ROOT / file).exists():
        pytest.skip(f"{file} is not here")
    return (ROOT / file).read_text("utf-8")


def project() -> dict:
    """What pyproject.toml says of the project."""
    return tomllib.loads(read("pyproject.toml"))["project"]


def entry(file: str) -> dict:
    """The content of a file in YAML or JSON, with the variables of a recipe filled in."""
    text = read(file)
    if file in RECIPES:
        from jinja2 import Environment

        mark = "${{" if "schema_version" in text else "{{"
        known = yaml.safe_load(text)["context"] if mark == "${{" else {}
        known["pin_subpackage"] = lambda name, max_pin: f"{name} {max_pin}"
        text = Environment(variable_start_string=mark).from_string(text).render(known)
    return yaml.safe_load(text)


def required(lines: list[str]) -> Iterator[Requirement]:
    """Requirements, with those of the extras of the package in place of these."""
    told = project()
    for wanted in map(Requirement, lines):
        if wanted.name == told["name"]:
            for extra in wanted.extras:
                yield from required(told["optional-dependencies"][extra])
        else:
            yield wanted


def test_pynndescent_is_one_that_scanpy_can_work_with():
    wanted = {one.name: one for one in map(Requirement, requires("glfs-bio") or ())}
    allowed = wanted["pynndescent"].specifier
    assert "0.6.0" in allowed
    assert "0.7.0" not in allowed  # sc.pp.neighbors fails above 8,192 cells


def test_the_last_heading_of_the_changelog_is_the_version():
    found = re.search(r"^## \[(\d\S*)\]", read("CHANGELOG.md"), re.MULTILINE)
    assert found[1] == project()["version"]


@pytest.mark.parametrize(
    ("file", "facts"),
    [
        (".zenodo.json", {key: key for key in ("description", "keywords", "license")}),
        ("CITATION.cff", {key: key for key in ("license", "version")}),
        ("codemeta.json", {key: key for key in ("description", "keywords", "version")}),
        (BIOTOOLS, {"biotoolsID": "name", "description": "description", "license": "license"}),
        (SCVERSE, {key: key for key in ("license", "name")}),
        *(
            (
                recipe,
                {
                    "about.license": "license",
                    "about.summary": "description",
                    "package.name": "name",
                    "package.version": "version",
                },
            )
            for recipe in RECIPES
        ),
    ],
)
def test_facts_are_those_of_pyproject(file, facts):
    said, told = entry(file), project()
    for path, fact in facts.items():
        assert reduce(dict.__getitem__, path.split("."), said) == told[fact], path


def test_the_authors_are_the_same_everywhere():
    authors = [author["name"] for author in project()["authors"]]
    for file, key in {
        **{".zenodo.json": "creators", "CITATION.cff": "authors"},
        **{"codemeta.json": "author", BIOTOOLS: "credit"},
    }.items():
        assert [author["name"] for author in entry(file)[key]] == authors, file
    assert entry(".zenodo.json")["title"] == entry("CITATION.cff")["title"]


@pytest.mark.parametrize("file", ["CITATION.cff", "codemeta.json", *REGISTERED])
def test_the_paper_is_named(file):
    assert project()["urls"]["Paper"].removeprefix("https://arxiv.org/abs/") in read(file)


@pytest.mark.parametrize(
    "file",
    [
        *("CITATION.cff", "codemeta.json", ".github/ISSUE_TEMPLATE/config.yml"),
        *("r_bridge/glfsbio/DESCRIPTION", *REGISTERED, *RECIPES),
        *(f"packaging/openproblems/src/methods/{name}/config.vsh.yaml" for name in OURS),
    ],
)
def test_addresses_are_those_of_pyproject(file):
    """Of the project, that is: on the host of its repository."""
    urls = project()["urls"]
    host = re.match(r"https://[^/]+/", urls["Repository"])[0]
    found = re.findall(rf"{re.escape(host)}[^\s\"',]*", read(file))
    assert found
    for address in found:
        assert address == urls["Repository"] or address.startswith(
            (urls["Documentation"], urls["Issues"])
        ), address


def test_labels_of_addresses_are_those_that_pypi_knows():
    removed = str.maketrans("", "", string.punctuation + string.whitespace)
    labels = {label.translate(removed).lower() for label in project()["urls"]}
    assert labels - WELL_KNOWN == {"paper"}


@pytest.mark.parametrize("file", REGISTERED)
def test_the_registry_takes_the_entry(file):
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **SCHEMAS[file]}
    jsonschema.validate(entry(file), schema)


@pytest.mark.parametrize(
    ("file", "key", "value"),
    [
        (SCVERSE, "tags", ["gene panel"]),
        (SCVERSE, "version", "0.2.0"),
        (BIOTOOLS, "topic", [{"uri": "http://edamontology.org/operation_3936", "term": "?"}]),
        (".zenodo.json", "creators", [{"family-names": "Wang"}]),
    ],
)
def test_the_registry_refuses(file, key, value):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(entry(file) | {key: value}, SCHEMAS[file])


def test_forms_and_workflows_can_be_read():
    folder = ROOT / ".github"
    if not folder.exists():
        pytest.skip(".github is not here")
    for file in [*folder.rglob("*.yml"), ROOT / ".codecov.yaml"]:
        assert isinstance(yaml.safe_load(file.read_text("utf-8")), dict), file


def test_actions_are_pinned():
    """A tag can be moved to other code, a commit cannot; dependabot moves both."""
    folder = ROOT / ".github" / "workflows"
    if not folder.exists():
        pytest.skip(".github is not here")
    pins: dict[str, set[str]] = {}
    for file in folder.glob("*.yml"):
        for line in re.findall(r"\buses:\s*(.*)", file.read_text("utf-8")):
            pinned = re.fullmatch(r"([\w./-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)", line)
            assert pinned, f"{file.name}: {line}"
            pins.setdefault(pinned[1], set()).add(pinned[2])
    assert pins
    assert all(len(versions) == 1 for versions in pins.values()), pins


@pytest.mark.parametrize("file", RECIPES)
def test_conda_installs_what_pip_does(file):
    recipe, told = entry(file), project()
    wanted = {"python": SpecifierSet(told["requires-python"])}
    for one in required([*told["dependencies"], "glfs-bio[all]"]):
        if one.name not in RECIPES[file]:
            name = one.name.replace("matplotlib", "matplotlib-base")
            wanted[name] = wanted.get(name, SpecifierSet()) & one.specifier
    asked = dict(line.split() for line in recipe["requirements"]["run"])
    assert {name: SpecifierSet(bounds) for name, bounds in asked.items()} == wanted
    build = recipe["build"] | recipe["build"].get("python", {})
    assert build["entry_points"] == [f"{name} = {call}" for name, call in told["scripts"].items()]
    assert recipe["extra"]["recipe-maintainers"] == entry(SCVERSE)["contact"]
