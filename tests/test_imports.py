"""Imports point down the floors of the house, and modules import each other in no ring.

Methods are named by text, and imported when they are asked for.
"""

from __future__ import annotations

import ast
import importlib
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import glfs_bio

PACKAGE = Path(glfs_bio.__file__).parent
#: From the ground up; what stands on one floor does not know its neighbours.
FLOORS = (
    *({"errors", "_typing"}, {"_progress", "checks", "codec", "labels"}, {"data"}, {"cells"}),
    *({"criterion"}, {"solvers"}, {"options"}, {"glfs2014", "rivals", "laprls"}),
    *({"measures"}, {"selection"}, {"estimators"}),
    *({"_docs", "_files"}, {"vendors"}),
    *({"datasets"}, {"_anndata"}, {"pp"}, {"tl"}, {"pl"}, {"io"}, {"cli", "rbridge"}),
    {"__init__", "__main__"},
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
#: The doors enter the whole package by its name, and so does its example.
DOORS = {"cli", "rbridge", "__main__"}


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(("glfs_bio", *(part for part in parts if part != "__init__")))


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports_of(module: str) -> set[str]:
    """Modules of the package that a module imports at any time, or for type checkers."""
    path, names = MODULES[module], set()
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            inner = {f"{base}.{name.name}" for name in node.names}
            names |= {name if name in MODULES else base for name in inner}
    modules = {name for name in names if name.split(".")[0] == "glfs_bio"}
    # a module of another room runs what its package imports
    packages = {name.rpartition(".")[0] for name in modules} & set(MODULES)
    return modules | {name for name in packages if not module.startswith(name)} - {module}


GRAPH = {module: imports_of(module) for module in MODULES}


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def test_imports_point_down():
    assert {room(module) for module in MODULES} <= set(FLOOR)
    up = [
        f"{module} ← {other}"
        for module, others in GRAPH.items()
        for other in others
        if room(module) != room(other) and FLOOR[room(other)] >= FLOOR[room(module)]
        if not (other == "glfs_bio" and room(module) in DOORS)
    ]
    assert not up


def test_there_is_no_ring():
    TopologicalSorter(GRAPH).prepare()  # or it raises, and names the ring


def test_the_imports_that_are_written_are_there():
    for module in MODULES:
        importlib.import_module(module)
