"""Writes ``glfsbio/R/functions.R``: the functions of Python, with arguments and defaults.

``make r-functions`` runs it.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from typing import Any

from glfs_bio._anndata.results import KINDS
from glfs_bio._docs import REQUIRED, Parameter, parameters
from glfs_bio.rbridge.formals import CALLED, EVALUATING, FUNCTIONS, NOT_IN_R, RECORDS, RENAMED

#: Arguments that take so many kinds of values that Python's types do not tell: among others one
#: number of each name.
NUMBERS = {"efficiency", "expression", "genes", "per_group", "preserve", "type"}
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
#: Parameters of which the page of R has Python's text, in R's words; the others are described above
#: the functions in the other files of R.
DESCRIBED = {
    "select_genes": "n_genes across time_limit method n_comps",
    "structure": "n_neighbors lambda1 ignore",
    "stability": "key n_resamples fraction",
    "evaluate_panel": "sizes domains",
    "extend_panel": "n_genes drop exclude limits",
    "explain_panel": "genes n_substitutes exclude",
    "prove_panel": "tolerance time_limit",
    "resolve_genes": "symbols ids nomenclature",
    "order_panel": "refused limits backups",
    "laprls": "lambda1 lambda2 n_neighbors",
    "limits": "expression total_counts expected_counts groups per_group nearly_identical per_type "
    "priority groupby cost budget",
    "platform": "name genes min_probes efficiency spread failure off_target max_off_target signal "
    "codebook spillover",
}
#: R's words, by patterns of Python's.
WORDS = {
    r":func:`~?(?:glfs_bio\.\w+\.)?(\w+)`": r"[glfs_\1()]",
    r" \(see \[glfs_read_(genes|markers)\(\)\]\)": "",
    r"An AnnData object has": "An object has",
    r"a boolean column of ``\.var``": "a logical vector or column of ``.var``",
    r"Column of ``\.(obs|var)``": r"Vector or column of ``.\1``",
    r"(?<!or )(a )?column of ``\.var``": "a vector or column of ``.var``",
    r"``\.var_names``": "the row names",
    r"``\.obs``": "`colData()`",
    r"``\.var``": "`rowData()`",
    r"numbers by gene": "a vector with names of genes",
    r"a dict of numbers by type": "a vector with names of types",
    r"\bNone:": "NULL:",
    r"``n_genes=None``": "`n_genes = NULL`",
    "λ": "lambda",
    "‖w‖²": "sum(coef^2)",
    "≥ 0": "of at least 0",
}
#: What a function does with its arguments; the others run a function of Python on an object.
BODIES = {
    "laprls": "fit(x, call_arguments())",
    "limits": "as_record(call_arguments())",
    "platform": "as_record(vectors_of_tables(call_arguments()))",
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
    if isinstance(value, dict):
        fields = [
            f"{in_r(name) if ' ' in name else name} = {in_r(item)}" for name, item in value.items()
        ]
        return f"list({', '.join(fields)})"
    if isinstance(value, tuple):
        ends = [in_r(end) for end in value]
        return f"c({', '.join(ends)})".replace("(NULL", "(-Inf").replace("NULL)", "Inf)")
    return json.dumps(value) if isinstance(value, str) else f"{value:g}"


def described(name: str) -> str:
    """Return what roxygen takes for the page, of the parameters that Python describes."""
    fields = parameters(CALLED[name])
    lines: list[str] = []
    for argument in DESCRIBED.get(name, "").split():
        first, *items = [in_words_of_r(text) for text in fields[argument].text.split("\n- ")]
        values = re.match(r"{(.+?)}", fields[argument].kind)
        if values and not items:
            first = f"`{values[1].replace(', ', '`, `')}`. {first}"
        lines += comment(f"@param {argument} {first}", indent=2)
        for item in items:
            lines += comment(f"  - {item}", indent=4)
    return "".join(f"{line}\n" for line in lines)


def in_words_of_r(text: str) -> str:
    text = " ".join(text.split())
    for pattern, words in WORDS.items():
        text = re.sub(pattern, words, text)
    return re.sub("``(.+?)``", lambda code: f"`{code_of_r(code[1])}`", text)


def code_of_r(code: str) -> str:
    """Return a literal of Python as R writes it: ranges have infinite ends."""
    try:
        value = ast.literal_eval(code)
    except (SyntaxError, ValueError):
        return code
    return code if isinstance(value, int | float) else in_r(value)


def comment(text: str, *, indent: int) -> list[str]:
    margin = "#' "
    return textwrap.wrap(text, 80, initial_indent=margin, subsequent_indent=margin + " " * indent)


def functions() -> str:
    """Return the text of ``R/functions.R``."""
    blocks = ["# Made by `make r-functions` from the signatures of Python: do not edit by hand."]
    for name in CALLED:
        arguments = [
            f"{argument}\0=\0{default}" if default else argument
            for argument, default in formals(name).items()
        ]
        page = "limits" if name in RECORDS else name
        body = BODIES.get(name, f'run("{name}", x, call_arguments())')
        blocks.append(
            f"{described(name)}#' @rdname glfs_{page}\n#' @export\nglfs_{name} <- function(\n"
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
        "sequences": typed(r"^Sequence\[int\]"),
    }
    kinds = [(kind, name.partition(".")[2]) for kind, name in KINDS.items()]
    texts = {name: [json.dumps(text) for text in sorted(vector)] for name, vector in names.items()}
    texts["writers"] = [f'{kind}\0=\0"glfs_{name}"' for kind, name in kinds if name in FUNCTIONS]
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
