"""Writes ``glfsbio/R/functions.R``: the functions of Python, with arguments and defaults.

``make r-functions`` runs it.  With ``pages`` it writes what the pages of R have of the docstrings:
arguments, columns and the record (``r_bridge/pages.R``).
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import textwrap
from typing import Any

from glfs_bio import io, tl
from glfs_bio._docs import REQUIRED, Parameter, parameters, section
from glfs_bio.rbridge.formals import CALLED, EVALUATING, NOT_IN_R, RECORDS, RENAMED

#: Arguments that take so many kinds of values that Python's types do not tell: among others one
#: number of each name.
NUMBERS = {"efficiency", "expression", "genes", "per_group", "preserve", "type"}
#: What stands before `...`, beside Python's positional arguments.
POSITIONAL = {"classify": ("n_genes",)}
#: Seeds that change what is seen come from R's generator.
SEEDED = {"stability", "evaluate_panel", "classify", "write_reference"}
#: Arguments of R alone.
ADDED = {
    "select_genes": {"lam": "NULL"},
    **{name: {"cell_weights": "NULL", "dimred": "NULL"} for name in EVALUATING},
}
PLACE = {"assay.type": "NULL", "assay": "NULL", "layer": "NULL"}
#: Arguments that R describes itself, once for all pages: they take more there, or something else.
OWN = {
    *("preserve", "use_rep", "neighbors_key", "objective", "panel", "labels", "spatial"),
    *("library_key", "counts_layer", "gene_sets", "n_jobs", "spillover_to"),
    *("standardize", "layer", "adata", "reference", "spatial_layer"),
}
#: Functions that R writes itself, and of which Python says what they are.
DESCRIBED = {
    "estimate_efficiency": tl.estimate_efficiency,
    "read_panel": io.read_panel,
    "write_order": io.write_order,
    "write_reference": io.write_reference,
}
#: Functions whose pages begin as Python's docstrings do.
INTRODUCED = {
    *("stability", "evaluate_panel", "explain_panel", "extend_panel", "order_panel"),
    *("prove_panel", "resolve_genes"),
    *DESCRIBED,
}
INHERITED = """@inheritParams glfs_select_genes
@inherit glfs_select_genes return
@inheritSection glfs_select_genes Errors"""
#: Keys of results, unless they are given.
KEYS = {
    "select_genes": "glfs",
    "stability": "glfs_stability",
    "evaluate_panel": "glfs_evaluation",
    "extend_panel": "glfs_extended",
    "explain_panel": "glfs_explanation",
    "prove_panel": "glfs_proof",
    "resolve_genes": "glfs_names",
    "order_panel": "glfs_order",
    "classify": "glfs_class",
}
#: What of a result stays in Python.
NOT_IN_RECORD = {"highly_variable", "request", "decision"}
#: R's words, by patterns of Python's.
WORDS = {
    r":(?:func|class):`~?(?:glfs_bio\.\w+\.|glfs_bio\.)?(\w+)`": lambda name: (
        f"[glfs_{name[1].lower()}()]"
    ),
    r" \(see \[glfs_read_(genes|markers)\(\)\]\)|, see \[glfs_read_markers\(\)\]": "",
    r"``tl\.(\w+)``": r"[glfs_\1()]",
    r"compiled patterns, boolean": "logical",
    r"An AnnData object has": "An object has",
    r"a boolean column of ``\.var``": "a logical vector or column of ``.var``",
    r"Column of ``\.(obs|var)``": r"Vector or column of ``.\1``",
    r"(?<!\bor\s)(a )?column of ``\.var``": "a vector or column of ``.var``",
    r"\b[Kk]ey of (?:``\.\w+``(?:, | and ))*``\.uns``": "name of the record",
    r"``Platform\((\w+)=...\)``": r"``glfs_platform(\1 = )``",
    r"``\.var_names``": "the row names",
    r"``\.obs``": "`colData()`",
    r"``\.var``": "`rowData()`",
    r"numbers by gene": "a vector with names of genes",
    r"a dict of numbers by type": "a vector with names of types",
    r"``f\"{key}_stability\"``": "the key and `_stability`",
    r"`adata`": "`x`",
    r"other cells(?=, or names)": "the `rowData()` of other cells",
    r"\bNone\b": "NULL",
    r"\bNaN\b": "NA",
    r"\bdict\b": "list",
    r"``(\w+)=NULL``": r"`\1 = NULL`",
    "λ": "lambda",
    "γ": "gamma",
    r"\n(?=\d\. )": " ",  # which would begin a list
    "‖w‖²": "sum(coef^2)",
    "≥ 0": "of at least 0",
    "R²": "R squared",
    "…": "...",
    "−": "-",
    "β": "weight",
    "`batch_key`": "`block`",
    "`use_rep`": "`dimred`",
    " × ": " x ",
}
#: What a function does with its arguments; the others run a function of Python on an object.
BODIES = dict.fromkeys(RECORDS, "as_record(call_arguments())")


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
    return {"x": ""} | first | {"...": ""} | others | ADDED.get(name, {}) | PLACE


def is_positional(name: str, parameter: Parameter) -> bool:
    return parameter.name in POSITIONAL.get(name, ()) or (
        name not in RECORDS and parameter.is_positional
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


def page(name: str) -> str:
    """Return what roxygen takes for the page of a function, of what Python says."""
    function = (CALLED | DESCRIBED)[name]
    fields = parameters(function)
    lines = [f"@rdname glfs_{'limits' if name in RECORDS else name}", "@export"]
    if name in INTRODUCED:
        text = re.split(r"\n\nParameters\n", inspect.getdoc(function) or "")[0]
        title, _, description = in_words_of_r(text).partition("\n\n")
        lines += [f"@title {title.removesuffix('.')}", f"@description {description or title}"]
    if name in INTRODUCED and name in CALLED:
        lines.append(INHERITED)
        if name != "evaluate_panel":
            lines.append("@inheritParams glfs_evaluate_panel")
    for argument in formals(name) if name in CALLED else fields:
        python = {new: old for old, new in RENAMED.items()}.get(argument, argument)
        if python not in fields or python in OWN or (python == "exclude" and "include" in fields):
            continue
        values = re.match(r"{(.+?)}", fields[python].kind)
        text = fields[python].text
        if values and "\n- " not in text:
            text = f"``{values[1].replace(', ', '``, ``')}``.  {text}"
        if argument == "random_state" and name in SEEDED:
            text = f"{text.partition('  ')[0]}  NULL: drawn from R's generator, after `set.seed()`."
        text = in_words_of_r(text)
        names = "include,exclude" if argument == "include" else argument
        lines += [f"@param {names} {text[0].upper()}{text[1:]}"]
    if name == "estimate_efficiency":
        (table, *_), *rows = section(function, "Returns")
        lines += [f"@return {in_words_of_r(table)}", ""]
        lines += [f"- {in_words_of_r(f'{column}: {text}')}" for column, _, text in rows]
    columns, fields_of_record = results(name)
    if columns:
        intro = "In `rowData(x)`, and those of samples in `colData(x)`:"
        lines += ["@section Columns:", intro, "", *columns, ""]
    if fields_of_record:
        intro = f"[glfs_result()], or `metadata(x)${KEYS[name]}`, is a list with"
        lines += ["@section The record:", intro, "", *fields_of_record]
    return "\n".join(lines) + "\n"


def results(name: str) -> tuple[list[str], list[str]]:
    """Return the columns and the fields of the record that a function writes, as items."""
    columns: list[str] = []
    fields: list[str] = []
    for head, kind, text in section(CALLED[name], "Returns") if name in KEYS else []:
        names = re.findall(r'(?:\["|key_added}_)(\w+)"\]', head)
        if "key_added" not in head or not text or NOT_IN_RECORD.intersection(names):
            continue
        place = "of samples" if head.startswith("``.obs") else ""
        if head.startswith("``.uns"):
            table = f", a {kind}" if kind.startswith("DataFrame") else ""
            items, called = fields, ", ".join(f"`{name}`" for name in names) + table
        else:
            items, called = columns, ", ".join(f"`{KEYS[name]}_{column}`" for column in names)
            called += f" {place}" if place else ""
        words = textwrap.indent(in_words_of_r(text), "  ").strip()
        words = f":\n  {words}" if words.startswith("- ") else f": {words}"
        items.append(f"- {called}{words}" if names else f"- {words[2:]}")
    return columns, fields


def in_words_of_r(text: str) -> str:
    """Return paragraphs and lists of a docstring as R has them."""
    for pattern, words in WORDS.items():
        text = re.sub(pattern.replace(" ", r"\s+"), words, text)
    text = re.sub("``(.+?)``", lambda code: f"`{code_of_r(code[1])}`", text, flags=re.DOTALL)
    text = re.sub(r"(?<=\S)  +", " ", text)
    text = re.sub(r"(\n- .*(?:\n .*)*)\n(?=[^\s-])", r"\1\n\n", text)
    if not text.isascii():
        raise ValueError(f"R has no word for a character of: {text}")
    return text


def code_of_r(code: str) -> str:
    """Return a literal of Python as R writes it: ranges have infinite ends."""
    try:
        value = ast.literal_eval(" ".join(code.replace("NULL", "None").split()))
    except (SyntaxError, ValueError):
        return code
    return code if isinstance(value, int | float) else in_r(value)


def functions() -> str:
    """Return the text of ``R/functions.R``."""
    blocks = ["# Made by `make r-functions` from the signatures of Python: do not edit by hand."]
    for name in CALLED:
        arguments = [
            f"{argument}\0=\0{default}" if default else argument
            for argument, default in formals(name).items()
        ]
        body = BODIES.get(name, f'run("{name}", x, call_arguments())')
        blocks.append(
            f'#\' @eval from_python("{name}")\n'
            f"{wrapped(f'glfs_{name} <- function(' + ', '.join(arguments), indent=8)})\n    {body}"
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
    texts = {name: [json.dumps(text) for text in sorted(vector)] for name, vector in names.items()}
    return [wrapped(f"{name} <- c({', '.join(items)})", indent=4) for name, items in texts.items()]


def wrapped(text: str, *, indent: int) -> str:
    """Return the text in lines of 80 columns; a default stays with its argument."""
    lines = textwrap.wrap(
        text.replace("<- function(", "<-\0function("),
        79,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace("\0", " ")


if __name__ == "__main__":
    pages = "".join(f"## {name}\n{page(name)}" for name in CALLED | DESCRIBED)
    print(pages if sys.argv[1:] == ["pages"] else functions(), end="")
