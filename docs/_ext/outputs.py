"""Tables of what functions write, from their docstrings, and of families of genes."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path

import glfs_bio
from glfs_bio._docs import parameters, section
from glfs_bio.vendors.names import shipped

PLACE = "<!-- filled in by docs/_ext/outputs.py -->"
FUNCTIONS = (
    *("pp.select_genes", "pp.structure", "tl.evaluate_panel", "tl.explain_panel"),
    *("tl.extend_panel", "tl.prove_panel", "tl.resolve_genes", "tl.order_panel"),
    *("tl.stability", "tl.classify", "tl.enrich"),
)


def cell(text: str) -> str:
    """Return a text of reStructuredText as one of Markdown in a cell of a table."""
    text = re.sub(r"(?:^|\n)- (.*(?:\n  .*)*)", lambda one: f" {one[1]};", text).removesuffix(";")
    text = re.sub(r":(\w+):`", r"{\1}`", " ".join(text.split()))
    return text.replace("|", r"\|")


def table(name: str) -> str:
    """Return the section of a function."""
    function = attrgetter(name)(glfs_bio)
    key = parameters(function).get("key_added")
    heading = f"## `{name}`" + (f", key `{key.default}`" if key and key.default else "")
    lines = [heading, "", "| written | type, shape | meaning |", "|---|---|---|"]
    entries = [one for one in section(function, "Returns") if one[1]]
    return "\n".join([*lines, *(f"| {' | '.join(map(cell, one))} |" for one in entries)])


def families() -> str:
    """Return the table of families of genes, with their sources."""
    patterns = shipped(Path(glfs_bio.__file__).parent / "vendors" / "patterns.tsv")
    rows = patterns.query("subject == 'family'")[["name", "note"]].to_numpy()
    lines = [f'| `"{name}"` | {note} |' for name, note in rows]
    return "\n".join(["| family | genes, and their source |", "|---|---|", *lines])


def fill(app, docname: str, source: list[str]) -> None:
    """Put the tables into the pages."""
    if docname == "reference/outputs":
        source[0] = source[0].replace(PLACE, "\n\n".join(map(table, FUNCTIONS)))
    if docname == "reference/api":
        source[0] = source[0].replace(PLACE, families())


def setup(app) -> dict[str, bool]:
    """Read the page with its tables."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
