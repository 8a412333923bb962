"""Every public name is on the API page, and its docstring has an example that runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

MODULES = ("", "datasets", "estimators", "glfs2014", "io", "pl", "pp", "rbridge", "tl")
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "api.md"
#: Sections of a docstring, in their order.
SECTIONS = (
    *("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "See Also", "Notes"),
    *("References", "Examples"),
)
#: Beside what is returned, of which the page of outputs is made.
MOST_WORDS = 900
#: What runs in no plain session: two need R, one the published file.
SKIPPED = {"rbridge.from_sce", "rbridge.register", "datasets.golub"}


def public() -> dict[str, object]:
    """Functions and classes in ``__all__``, by their shortest name."""
    found: dict[str, object] = {}
    for module in MODULES:
        home = importlib.import_module(f"glfs_bio.{module}".rstrip("."))
        for name in home.__all__:
            thing = getattr(home, name)
            if not inspect.ismodule(thing) and thing not in found.values():
                found[f"{module}.{name}".lstrip(".")] = thing
    return found


def on_the_page() -> list[str]:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if re.fullmatch(r"   (\w+\.)?\w+", line)]


def test_the_page_has_every_public_name_once():
    assert sorted(on_the_page()) == sorted(public())


def test_every_public_module_is_looked_at():
    import glfs_bio

    modules = {name for name in glfs_bio.__all__ if inspect.ismodule(getattr(glfs_bio, name))}
    assert modules <= set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_dir_shows_what_is_public(module):
    home = importlib.import_module(f"glfs_bio.{module}".rstrip("."))
    assert set(dir(home)) - {"__version__"} == set(home.__all__)


@pytest.mark.parametrize("name", public())
def test_there_is_an_example(name):
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(public()[name]))
    running = [example for example in examples if doctest.SKIP not in example.options]
    calls = [example for example in running if name.split(".")[-1] in example.source]
    if name in SKIPPED:
        assert examples
    elif name == "rbridge.to_sce":
        assert len(examples) > len(running) > 0
    else:
        assert calls


@pytest.mark.parametrize("name", public())
def test_parameters_have_a_type_and_a_default(name):
    thing = public()[name]
    text = inspect.getdoc(thing)
    if "Parameters and attributes are those of" in text:
        return
    for parameter in inspect.signature(thing).parameters.values():
        line = re.search(rf"^(\S+, )*\*{{0,2}}{parameter.name}(, \S+)* : (.+)$", text, re.MULTILINE)
        assert line, parameter
        assert ("default " in line[3]) == (parameter.default is not parameter.empty), parameter


@pytest.mark.parametrize("name", public())
def test_the_sections_are_those_of_numpydoc(name):
    text = inspect.getdoc(public()[name])
    headings = re.findall(r"^(.+)\n-{3,}$", text, re.MULTILINE)
    order = [SECTIONS.index(heading) for heading in headings]
    assert order == sorted(order)
    without = re.sub(
        r"\nReturns\n-+\n.*?(?=\n\n[A-Z][^\n]*\n-{3,}\n|\Z)", "", text, flags=re.DOTALL
    )
    assert len(without.split()) < MOST_WORDS


@pytest.mark.parametrize("name", public())
def test_shared_descriptions_are_filled_in(name):
    assert not re.search(r"^ *<[a-z_, ]+>", inspect.getdoc(public()[name]), re.MULTILINE)


@pytest.mark.parametrize("name", [name for name in public() if name.startswith(("pp.", "tl."))])
def test_what_is_said_where_scanpy_would_copy(name):
    thing = public()[name]
    if "inplace" in inspect.signature(thing).parameters:
        texts = inspect.getdoc(thing), inspect.getdoc(inspect.getmodule(thing))
        assert "no `copy`" in " ".join(" ".join(texts).split())
