"""Every public name is on the API page, and its docstring says what it takes and does."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from operator import attrgetter
from pathlib import Path

import glfs_bio
from glfs_bio._docs import REQUIRED, Parameter, parameters, parameters_in_source, section
from glfs_bio.cli import COMMANDS

MODULES = ("", "datasets", "estimators", "glfs2014", "io", "pl", "pp", "rbridge", "tl")
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "api.md"
#: Sections of a docstring, in their order.
SECTIONS = (
    *("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns", "See Also", "Notes"),
    *("References", "Examples"),
)
#: Beside what is returned, of which the page of outputs is made.
MOST_WORDS = 900
#: What runs in no plain session: three need R, one the published file.
SKIPPED = {"rbridge.from_sce", "rbridge.register", "rbridge.to_sce", "datasets.golub"}


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
    return any(name.split(".")[-1] in example.source for example in running)


def test_there_are_examples():
    assert [name for name in PUBLIC if not has_its_example(name)] == []


def has_a_line(parameter: inspect.Parameter, text: str) -> bool:
    """Whether a docstring has the type of a parameter, and a default where there is one."""
    line = re.search(rf"^(\S+, )*\*{{0,2}}{parameter.name}(, \S+)* : (.+)$", text, re.MULTILINE)
    has_default = parameter.default is not parameter.empty
    return line is not None and ("default " in line[3]) == has_default


def test_parameters_have_a_type_and_a_default():
    wrong = [
        f"{name}: {parameter}"
        for name, text in DOCS.items()
        if "Parameters and attributes are those of" not in text
        for parameter in inspect.signature(PUBLIC[name]).parameters.values()
        if not has_a_line(parameter, text)
    ]
    assert not wrong


RETURNS = re.compile(r"\nReturns\n-+\n.*?(?=\n\n[A-Z][^\n]*\n-{3,}\n|\Z)", re.DOTALL)


def test_docstrings_are_those_of_numpydoc():
    """Sections in their order, of some length, and shared descriptions filled in."""
    wrong = []
    for name, text in DOCS.items():
        headings = re.findall(r"^(.+)\n-{3,}$", text, re.MULTILINE)
        is_long = len(RETURNS.sub("", text).split()) >= MOST_WORDS
        is_empty = re.search(r"(?m)^ *<[a-z_, ]+>", text)
        if headings != sorted(headings, key=SECTIONS.index) or is_long or is_empty:
            wrong.append(name)
    assert not wrong


def test_what_is_said_where_scanpy_would_copy():
    silent = []
    for name, thing in PUBLIC.items():
        if name.startswith(("pp.", "tl.")) and "inplace" in inspect.signature(thing).parameters:
            text = f"{DOCS[name]} {inspect.getdoc(inspect.getmodule(thing))}"
            if "no `copy`" not in " ".join(text.split()):
                silent.append(name)
    assert not silent


def several(one: int, two: str = "a", *, three: float | None = None, **more: object) -> None:
    """Do several things.

    Parameters
    ----------
    one : int
        First of all.
    two, three : str or float
        The rest:

        - ``"a"``: a

    Returns
    -------
    None.  Written:

    ``.uns["x"]`` : dict
        Everything.
    """


def test_what_a_signature_and_a_docstring_say():
    text = 'The rest:\n- ``"a"``: a'
    assert parameters(several) == {
        "one": Parameter("one", "int", "int", "First of all.", REQUIRED, True),
        "two": Parameter("two", "str", "str or float", text, "a", True),
        "three": Parameter("three", "float | None", "str or float", text, None),
    }
    assert section(several, "Returns")[-1] == ('``.uns["x"]``', "dict", "Everything.")


def test_the_source_says_what_functions_say():
    for name in {command.function for command in COMMANDS.values()}:
        function = attrgetter(name)(glfs_bio)
        source, imported = parameters_in_source(name), parameters(function)
        assert list(source) == list(imported)
        for one, other in zip(source.values(), imported.values(), strict=True):
            assert (one.type, one.kind, one.text) == (other.type, other.kind, other.text)
            assert (one.default is REQUIRED) == (other.default is REQUIRED)
