"""Writes ``glfsbio/R/functions.R``: the functions of Python, with arguments and defaults.

``make r-functions`` runs it.
"""

from __future__ import annotations

import json
import re
import textwrap
from typing import Any

from glfs_bio._anndata.results import KINDS
from glfs_bio._docs import REQUIRED, Parameter, parameters
from glfs_bio.rbridge.formals import CALLED, EVALUATING, FUNCTIONS, NOT_IN_R, RECORDS, RENAMED

#: Arguments that take so many kinds of values that Python's types do not tell: among others one
#: number of each name, or always several values.
NUMBERS = {"efficiency", "expression", "genes", "per_group", "preserve", "type"}
SEVERAL = {"genes"}
#: What stands before `...`, beside Python's positional arguments.
POSITIONAL = {"classify": ("n_genes",), "laprls": ()}
#: Seeds that change what is seen come from R's generator.
SEEDED = {"stability", "evaluate_panel", "classify"}
#: Arguments of R alone.
OF_STRUCTURE = {"use_rep": "NULL", "dimred": "NULL"}
ADDED = {
    "select_genes": {"lam": "NULL", **OF_STRUCTURE},
    "structure": OF_STRUCTURE,
    **{name: {"cell_weights": "NULL", **OF_STRUCTURE} for name in EVALUATING},
}
PLACE = {"assay.type": "NULL", "assay": "NULL", "layer": "NULL"}
#: What a function does with its arguments; the others run a function of Python on an object.
BODIES = {
    "laprls": "fit(x, given())",
    "limits": "as_record(given())",
    "platform": "as_record(vectors_of_tables(given()))",
}


def formals(name: str) -> dict[str, str]:
    """Return the arguments of a function of R in their order, with their defaults as R code.

    Without a default: an empty text, as for ``...``.
    """
    first: dict[str, str] = {}
    others: dict[str, str] = {}
    for parameter in parameters(CALLED[name]).values():
        if parameter.name not in NOT_IN_R:
            arguments = first if is_positional(name, parameter) else others
            arguments[RENAMED.get(parameter.name, parameter.name)] = default_of(name, parameter)
    if name in RECORDS:
        return {"...": ""} | others
    labels = {"labels": ""} if name == "laprls" else {}
    return {"x": ""} | labels | first | {"...": ""} | others | ADDED.get(name, {}) | PLACE


def is_positional(name: str, parameter: Parameter) -> bool:
    return parameter.name in POSITIONAL.get(name, ()) or (
        name not in {"laprls", *RECORDS} and parameter.is_positional
    )


def default_of(name: str, parameter: Parameter) -> str:
    """Return a default; "recorded" is that of an earlier selection, an argument without one."""
    if parameter.name == "random_state" and name in SEEDED:
        return "NULL"
    return "" if parameter.default in (REQUIRED, "recorded") else in_r(parameter.default)


def in_r(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    if isinstance(value, tuple):
        return f"c({', '.join(map(in_r, value))})"
    return json.dumps(value) if isinstance(value, str) else f"{value:g}"


def functions() -> str:
    """Return the text of ``R/functions.R``."""
    blocks = ["# Made by `make r-functions` from the signatures of Python: do not edit by hand."]
    for name in CALLED:
        arguments = [
            f"{argument}\0=\0{default}" if default else argument
            for argument, default in formals(name).items()
        ]
        page = "limits" if name in RECORDS else name
        body = BODIES.get(name, f'run("{name}", x, given())')
        blocks.append(
            f"#' @rdname glfs_{page}\n#' @export\nglfs_{name} <- function(\n"
            f"{wrapped(', '.join(arguments), indent=8)}) {{\n    {body}\n}}"
        )
    return "\n\n".join([*blocks, *vectors()]) + "\n"


def vectors() -> list[str]:
    """Return what R has to know of functions and arguments, a vector each."""
    types = [
        (name, argument.type)
        for function in CALLED.values()
        for name, argument in parameters(function).items()
    ]

    def typed(pattern: str) -> set[str]:
        return {name for name, kind in types if re.search(pattern, kind)}

    names = {
        "numbers_by_name": NUMBERS | typed(r"Mapping\[str, (float|int)\b"),
        "genes_by_name": typed(r"Mapping\[str, Collection\[str\]\]"),
        "sequences": SEVERAL | typed(r"^Sequence\[int\]"),
    }
    kinds = [(kind, name.partition(".")[2]) for kind, name in KINDS.items()]
    texts = {name: [json.dumps(text) for text in sorted(vector)] for name, vector in names.items()}
    for name, mapping in {
        "renamed": RENAMED,
        "writers": {kind: f"glfs_{name}" for kind, name in kinds if name in FUNCTIONS},
    }.items():
        texts[name] = [f'{key}\0=\0"{text}"' for key, text in mapping.items()]
    return [
        f"{name} <- c(\n{wrapped(', '.join(items), indent=4)}\n)" for name, items in texts.items()
    ]


def wrapped(text: str, *, indent: int) -> str:
    """Return the text in lines of 80 columns; a default stays with its argument."""
    margin = " " * indent
    lines = textwrap.fill(
        text,
        77,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines.replace("\0", " ")


if __name__ == "__main__":
    print(functions(), end="")
