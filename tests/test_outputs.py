"""Docstrings, of which the reference page on outputs is made, have every key that is written."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from glfs_bio import pp, tl
from glfs_bio._anndata import read, structure
from glfs_bio._docs import section

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "outputs.md"
#: Tables whose columns have names of their own.
TABLES = {
    *("table", "genes", "substitutes", "predictors", "pairs"),
    *("per_label", "unexplained", "measures"),
}
#: Functions whose outputs are described with those of another one.
MORE = {
    "extend_panel": "select_genes",
    "prove_panel": "select_genes",
}


def names_of(name, before, after):
    """Names of everything that a call writes, without the key."""
    stored = {key for key in after["uns"] if read.COMPUTED.fullmatch(key)}  # by other functions
    new = {part: set(after[part]) - set(before[part]) - stored for part in before}
    if name == "structure":
        new["uns"] = {structure.KEY}
    names = set()
    for column in set().union(*(new[part] for part in new if part != "uns")):
        key = max((key for key in new["uns"] if column.startswith(key)), key=len, default="")
        names.add(column.removeprefix(key).removeprefix("_") or "key_added")
    for key in new["uns"]:
        for entry, value in after["uns"][key].items():
            names.add(entry)
            if isinstance(value, pd.DataFrame) and entry in TABLES:
                names |= set(map(str, value))
    return {name.removesuffix("_laprls") for name in names}  # an ending that is described


def outputs(name):
    function = getattr(tl, name, None) or getattr(pp, name)
    return " ".join(" ".join(entry) for entry in section(function, "Returns"))


def test_every_key_is_documented(every_result):
    missing = []
    for name, result in every_result.items():
        text = f"{PAGE.read_text('utf-8')} {outputs(name)} {outputs(MORE.get(name, name))}"
        names = names_of(name, result.before, result.after)
        assert names, name
        missing += [
            f"{name}: {key}"
            for key in sorted(names)
            if not re.search(rf"(?<![a-z]){re.escape(key)}\b", text)
        ]
    assert not missing
