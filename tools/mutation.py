"""Change one operator or constant of a module at a time, and see whether a test notices.

``python tools/mutation.py`` writes ``benchmarks/results/mutants.md``.  Every mutant runs in a
child of this process, which has loaded the libraries already.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.machinery
import importlib.util
import os
import platform
import resource
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
_OF_VARIANCES = [
    "tests/glfs2014/test_variance.py",
    "tests/glfs2014/test_owlqn.py",
    "tests/glfs2014/test_solvers.py",
    "tests/glfs2014/test_edges.py",
    "tests/glfs2014/test_any_objective.py",
]
_OF_ERROR = ["tests/criterion/test_error.py", "tests/solvers/test_bound.py"]
_OF_PANELS = ["tests/criterion/test_criterion.py", "tests/solvers/test_greedy.py"]
_OF_SETS = ["tests/criterion/test_across.py", "tests/criterion/test_panel.py"]
#: Modules of the package, and the tests that are to notice.
MODULES = {
    "criterion/error": [*_OF_ERROR, *_OF_PANELS],
    "glfs2014/variance": _OF_VARIANCES,
    "solvers/bound": [*_OF_ERROR, *_OF_PANELS],
    "glfs2014/solvers": _OF_VARIANCES,
    "criterion/criterion": [*_OF_PANELS, *_OF_SETS],
}
FLAGS = ["-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
#: Processor seconds of a mutant's tests; as it is, a module takes at most a third.
TIME_LIMIT = 60
OPERATORS = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult},
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq},
    **{ast.And: ast.Or, ast.Or: ast.And, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
}


#: Why nothing can, or should, tell these mutants from the module: (module, part of what was,
#: part of what became) and the reason.
SAME_RESULT = [
    ("variance", "len(support) < self.genes.shape[1]", "len(support) <= self",
     "with as many genes as directions both forms give the same numbers"),
    ("variance", "True", "False", "`frozen` and `strict` guard against changes of the code"),
    ("variance", "False", "True", "`check_finite` refuses what is not there"),
    ("variance", "2048", "4096", "genes at a time: how long, not what comes out"),
    ("variance", "beta > 0", "beta >= 0", "a gene of weight zero adds zero"),
    ("error", "beta > 0", "beta >= 0", "a gene of weight zero adds zero"),
    ("error", "True", "False", "`frozen` guards against changes of the code"),
    ("bound", "True", "False", "`frozen` guards against changes of the code"),
    ("bound", "1e-12", "2e-12", "how closely the relaxation is solved: the bounds hold anyhow"),
    ("bound", "60", "120", "how closely the relaxation is solved: the bounds hold anyhow"),
    ("bound", "halvings < RULES", "halvings <= RULES",
     "how closely the relaxation is solved: the bounds hold anyhow"),
    ("bound", "2", "4", "how closely the relaxation is solved: the bounds hold anyhow"),
    ("bound", "total >= enough", "total > enough", "equal to the last bit only by accident"),
    ("bound", "greater <= total", "greater < total", "equal weights are the same in both forms"),
    ("bound", "beta > 0", "beta >= 0", "all genes are looked at: slower, and the same"),
    ("bound", "0", "1", "the gradient of a gene that has weight is steep, and looked at for that"),
    ("bound", "gradient >= ", "gradient > ", "equal to the last bit only by accident"),
    ("bound", "reach >= above", "reach > above", "equal to the last bit only by accident"),
    ("bound", "1.0", "2.0", "more gradients are exact: slower, and the same"),
    ("criterion", "True", "False", "`frozen` guards against changes of the code"),
    ("criterion", "100.0", "200.0", "a setting, `benchmarks/ARCHIVE.md` has the trials"),
    ("criterion", "- self._floors", "+ self._floors",
     "how near the bound of the worst set is: it holds for any weights of the sets"),
    ("criterion", "-1", "+1",
     "how near the bound of the worst set is: it holds for any weights of the sets"),
    ("criterion", "1", "2",
     "NumPy works out a length of -2 as one of -1; in `bounding` it is how near the bound is"),
    ("criterion", "/ self.scale", "* self.scale", "the scale of the worst set is 1"),
    ("criterion", "0", "1", "the error of a set is multiplied by more than 1, or by 0"),
    ("owlqn", "10000", "20000", "steps that are allowed by default: no solution takes as many"),
    ("owlqn", "10", "20", "pairs that are remembered: the number of steps, not the solution"),
    ("owlqn", "1e-12", "2e-12", "a threshold within rounding"),
    ("owlqn", "> 1e-12", ">= 1e-12", "equal to the last bit only by accident"),
    ("owlqn", "1e-12 * (moved @ moved)", "1e-12 / (moved @ moved)", "a threshold within rounding"),
    ("owlqn", "True", "False", "`strict` guards against changes of the code"),
    ("owlqn", "> _SHORTEST_STEP", ">= _SHORTEST_STEP", "equal to the last bit only by accident"),
    ("owlqn", "2.0", "4.0", "backtracking by quarters: the number of steps, not the solution"),
    ("owlqn", "0.0) - here", "0.0) + here",
     "where backtracking begins: what is accepted is decided by the decrease and by the branches"),
    ("owlqn", "here + direction", "here - direction",
     "where backtracking begins: what is accepted is decided by the decrease and by the branches"),
    ("owlqn", "expected >= 0", "expected > 0", "a step of slope zero is refused by the decrease"),
    ("owlqn", "0", "1", "a step upwards is refused by the decrease as well"),
    ("owlqn", "kkt <= tol", "kkt < tol", "equal to the last bit only by accident"),
]  # fmt: skip


def places(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    """Nodes that can be changed, and how; not annotations, docstrings or messages."""
    found: list[tuple[ast.AST, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in OPERATORS:
            found.append((node, "operator"))
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
            found.append((node, "comparison"))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
            found.append((node, "sign"))
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
            found.append((node, "constant"))
    return found


def change(node: ast.AST, how: str) -> None:
    """Change a node in place."""
    if how == "operator":
        node.op = OPERATORS[type(node.op)]()  # type: ignore[attr-defined]
    elif how == "comparison":
        node.ops[0] = OPERATORS[type(node.ops[0])]()  # type: ignore[attr-defined]
    elif how == "sign":
        node.op = ast.UAdd()  # type: ignore[attr-defined]
    elif isinstance(node, ast.Constant):
        value = node.value
        node.value = (not value) if isinstance(value, bool) else value * 2 if value else 1


def survives(path: Path, code: bytes, tests: list[str]) -> str:
    """Run the tests on the changed module: ``killed``, ``killed (time)`` or ``survived``."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        original = importlib.machinery.SourceFileLoader.get_data
        compiled = importlib.util.cache_from_source(path)

        def get_data(self, name):
            if name == compiled:
                raise OSError  # that is the module as it was
            return code if Path(name).resolve() == path else original(self, name)

        importlib.machinery.SourceFileLoader.get_data = get_data
        sys.dont_write_bytecode = True
        resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT, TIME_LIMIT))
        sys.path_importer_cache.clear()
        import pytest

        os._exit(int(pytest.main(["-x", "-q", *FLAGS, *tests])))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == -signal.SIGKILL:
        return "killed (time)"
    return "survived" if code == 0 else "killed"


def explained(module: str, before: str, after: str) -> str:
    """Why a mutant may survive, or that nobody knows."""
    for where, was, became, why in SAME_RESULT:
        if where == Path(module).name and was in before and became in after:
            return why
    return "**not explained**"


def main() -> None:
    """Try every mutant, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", nargs="*", choices=MODULES, default=list(MODULES))
    parser.add_argument("--every", type=int, default=1, help="only every so-many-th mutant")
    parser.add_argument("--output", default="benchmarks/results/mutants.md")
    given = parser.parse_args()
    os.chdir(ROOT)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    import scanpy  # noqa: F401 - loaded once for all children
    import sklearn.neighbors  # noqa: F401

    results = []
    for module in given.modules:
        path, tests = (ROOT / "glfs_bio" / f"{module}.py").resolve(), MODULES[module]
        tree = ast.parse(path.read_text("utf-8"))
        if survives(path, ast.unparse(tree).encode(), tests) != "survived":
            sys.exit(f"The tests fail on {module} as it is: no mutant would say anything.")
        if survives(path, b"raise ImportError", tests) == "survived":
            sys.exit(f"The tests do not see that {module} was changed.")
        for i, (node, how) in list(enumerate(places(tree)))[:: given.every]:
            mutant = copy.deepcopy(tree)
            twin, _ = places(mutant)[i]
            before = ast.unparse(twin)
            change(twin, how)
            after = ast.unparse(twin)
            code = ast.unparse(ast.fix_missing_locations(mutant)).encode()
            fate = survives(path, code, tests)
            results.append((module, node.lineno, before, after, fate))
            print(*results[-1], sep=" | ", flush=True)
    write(results, Path(given.output), " ".join(sys.argv))


def write(results: list[tuple[str, int, str, str, str]], output: Path, command: str) -> None:
    """Counts, and the survivors."""
    versions = f"numpy {version('numpy')}, scipy {version('scipy')}"
    words = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    lines = ["# Mutants", "", f"`python {command}`, commit {commit}, "]
    lines[-1] += f"Python {platform.python_version()}, {versions}"
    lines += ["", "| module | mutants | killed | survived |", "|---|---|---|---|"]
    for module in dict.fromkeys(row[0] for row in results):
        fates = [row[4] for row in results if row[0] == module]
        killed = sum(fate != "survived" for fate in fates)
        lines.append(f"| {module} | {len(fates)} | {killed} | {len(fates) - killed} |")
    lines += [
        "",
        "## Survivors",
        "",
        "| module | line | was | became | why |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {module} | {line} | `{before}` | `{after}` | {explained(module, before, after)} |"
        for module, line, before, after, fate in results
        if fate == "survived"
    ]
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
