"""Every message of the package is a literal text that all doors can show."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from string import Formatter

import pytest

import glfs_bio
from glfs_bio import errors
from glfs_bio.errors import PYTHON, Door

FOLDER = Path(glfs_bio.__file__).parent
REFUSALS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.Refusal)
}
#: Arguments before the templates, and how many of these there are.
PLACES = {"Caution": (0, 1), "Message": (0, 1)} | dict.fromkeys(REFUSALS, (2, 2))


class Filling(float):
    """Stands for any field."""

    def __format__(self, spec: str) -> str:
        return "filling"


def texts(node: ast.AST, constants: dict[str, ast.AST]) -> list[str] | None:
    """What an expression of literal texts may be; None where it is something else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.Name) and node.id in constants:
        return texts(constants[node.id], constants)
    if isinstance(node, ast.IfExp):
        either = [texts(node.body, constants), texts(node.orelse, constants)]
        return None if None in either else [*either[0], *either[1]]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        both = [texts(node.left, constants), texts(node.right, constants)]
        return None if None in both else [one + two for one, two in product(*both)]
    return None


def called(node: ast.Call) -> str | None:
    """What is constructed; of ``(A if … else B)(…)`` the first."""
    function = node.func.body if isinstance(node.func, ast.IfExp) else node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


def templates() -> list[pytest.param]:
    """Every template in the package: its texts, the fields that are given, and where it is."""
    found = []
    for path in sorted(FOLDER.rglob("*.py")):
        if path.name == "errors.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (name := called(node)) in PLACES:
                before, most = PLACES[name]
                stars = sum(isinstance(one, ast.Starred) for one in node.args)  # name and value
                positional = node.args[before - stars : before - stars + most]
                named = {one.arg: one.value for one in node.keywords}
                given = [
                    *positional,
                    *(named[key] for key in ("problem", "remedy") if key in named),
                ]
                fields = None if None in named else frozenset(named)
                where = f"{path.relative_to(FOLDER)}:{node.lineno}"
                found.append(pytest.param(given, constants, fields, id=where))
    return found


def doors() -> dict[str, Door]:
    """Those that are there: of Python, of R, and of the shell."""
    found = {"python": PYTHON}
    for name in ("rbridge", "cli"):
        if find_spec(f"glfs_bio.{name}.words") is not None:
            module = import_module(f"glfs_bio.{name}.words")
            found |= {
                f"{name}.{called}": door
                for called, door in vars(module).items()
                if isinstance(door, Door)
            }
    return found


def fields_of(template: str) -> set[str]:
    """Names of the fields and tokens of a template, those in other fields too."""
    names = set()
    for _, name, spec, _ in Formatter().parse(template):
        if name is not None:
            names |= {name} | fields_of(spec or "")
    return names


TEMPLATES = templates()
TOKENS = {*PYTHON.words, "arg", "call"}


def test_they_are_found():
    assert len(TEMPLATES) > 100


@pytest.mark.parametrize(("given", "constants", "fields"), TEMPLATES)
def test_a_template_is_a_literal_whose_fields_are_given(given, constants, fields):
    for node in given:
        found = texts(node, constants)
        assert found is not None, ast.unparse(node)
        for template in found:
            assert fields is None or fields_of(template) - TOKENS <= fields, template


@pytest.mark.parametrize("door", doors().values(), ids=doors())
@pytest.mark.parametrize(("given", "constants", "fields"), TEMPLATES)
def test_every_door_shows_it(given, constants, fields, door):
    for node in given:
        for template in texts(node, constants) or ():
            shown = door.fill(template, dict.fromkeys(fields_of(template) - TOKENS, Filling(1.0)))
            assert "{" not in shown
            assert "}" not in shown
