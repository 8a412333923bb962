"""Tables of what functions write, from the sections "Returns" of their docstrings."""

from __future__ import annotations

import re
from operator import attrgetter

import glfs_bio
from glfs_bio._signatures import parameters, section

PAGE, PLACE = "reference/outputs", "<!-- from the docstrings: docs/_ext/outputs.py -->"
FUNCTIONS = (
    *("pp.select_genes", "pp.structure", "tl.evaluate_panel"),
    *("tl.explain_panel", "tl.explain_gene", "tl.extend_panel", "tl.replace_genes"),
    *("tl.substitutes", "tl.prove_panel", "tl.resolve_genes"),
    *("tl.order_panel", "tl.markers", "tl.stability", "tl.classify", "tl.predict"),
    *("tl.enrich", "tl.panel_umap"),
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


def fill(app, docname: str, source: list[str]) -> None:
    """Put the tables into the page."""
    if docname == PAGE:
        source[0] = source[0].replace(PLACE, "\n\n".join(map(table, FUNCTIONS)))


def setup(app) -> dict[str, bool]:
    """Read the page with its tables."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
