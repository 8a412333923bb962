"""Every public name is on the API page, and its docstring has an example that runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import glfs_bio

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


def home(module: str):
    return importlib.import_module(f"glfs_bio.{module}".rstrip("."))


def public() -> dict[str, object]:
    """Functions and classes in ``__all__``, by their shortest name."""
    things: dict[str, object] = {}
    for module in MODULES:
        for name in home(module).__all__:
            thing = getattr(home(module), name)
            if not inspect.ismodule(thing) and thing not in things.values():
                things[f"{module}.{name}".lstrip(".")] = thing
    return things


PUBLIC = public()
DOCS = {name: inspect.getdoc(thing) for name, thing in PUBLIC.items()}


def test_the_page_has_every_public_name_once():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    names = [line.strip() for line in lines if re.fullmatch(r"   (\w+\.)?\w+", line)]
    assert sorted(names) == sorted(PUBLIC)


def test_dir_shows_what_is_public():
    modules = {name for name in glfs_bio.__all__ if inspect.ismodule(getattr(glfs_bio, name))}
    assert modules <= set(MODULES)
    shown = {module: set(dir(home(module))) - {"__version__"} for module in MODULES}
    assert shown == {module: set(home(module).__all__) for module in MODULES}


def has_its_example(name: str) -> bool:
    examples = doctest.DocTestParser().get_examples(DOCS[name])
    running = [example for example in examples if doctest.SKIP not in example.options]
    if name in SKIPPED:
        return bool(examples)
    if name == "rbridge.to_sce":
        return len(examples) > len(running) > 0
    return any(name.split(".")[-1] in example.source for example in running)


def test_there_are_examples():
    assert [name for name in PUBLIC if not has_its_example(name)] == []


def parameters_without_type_or_default(name: str) -> list[str]:
    text = DOCS[name]
    if "Parameters and attributes are those of" in text:
        return []
    wrong = []
    for parameter in inspect.signature(PUBLIC[name]).parameters.values():
        line = re.search(rf"^(\S+, )*\*{{0,2}}{parameter.name}(, \S+)* : (.+)$", text, re.MULTILINE)
        has_default = parameter.default is not parameter.empty
        if not line or ("default " in line[3]) != has_default:
            wrong.append(f"{name}: {parameter}")
    return wrong


def test_parameters_have_a_type_and_a_default():
    assert [wrong for name in PUBLIC for wrong in parameters_without_type_or_default(name)] == []


RETURNS = re.compile(r"\nReturns\n-+\n.*?(?=\n\n[A-Z][^\n]*\n-{3,}\n|\Z)", re.DOTALL)


def faults_of_a_docstring(text: str) -> list[str]:
    order = [SECTIONS.index(name) for name in re.findall(r"^(.+)\n-{3,}$", text, re.MULTILINE)]
    faults = {
        "sections in another order": order != sorted(order),
        "too long": len(RETURNS.sub("", text).split()) >= MOST_WORDS,
        "a shared description is not filled in": re.search(r"(?m)^ *<[a-z_, ]+>", text),
    }
    return [fault for fault, is_there in faults.items() if is_there]


def test_docstrings_are_those_of_numpydoc():
    faults = {name: faults_of_a_docstring(text) for name, text in DOCS.items()}
    assert {name: wrong for name, wrong in faults.items() if wrong} == {}


def test_what_is_said_where_scanpy_would_copy():
    silent = []
    for name, thing in PUBLIC.items():
        if name.startswith(("pp.", "tl.")) and "inplace" in inspect.signature(thing).parameters:
            text = f"{DOCS[name]} {inspect.getdoc(inspect.getmodule(thing))}"
            if "no `copy`" not in " ".join(text.split()):
                silent.append(name)
    assert not silent
