"""Read the tables and resolve the aliases of `results/files.md`, and say what comes of each.

python -m benchmarks.names [--write]
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from glfs_bio import io
from glfs_bio.errors import Refusal
from glfs_bio.vendors.names import Resolver

from .tables import RESULTS, parser

PAGE = RESULTS / "files.md"
TABLE = re.compile(r"^\| .* \| `(\w+)` (\w+) \| `(.+)` \| (.+) \|(.*)\|$")
ALIASES = re.compile(r"^\| (human|mouse) \| ([^|]+) \|(.*)\|$")
MARKS = str.maketrans({"⏎": "\n", "⇥": "\t", "␍": "\r"})


def outcome(reader: str, ending: str, text: str, right: str) -> str:
    """Return what a reader makes of a text: what is right, a refusal, or something wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{ending}"
        path.write_text(text.translate(MARKS), "utf-8", newline="")
        try:
            content = getattr(io, reader)(path)
        except Refusal:
            return "refused"
    if reader == "read_markers":
        content = "; ".join(f"{name}: {' '.join(genes)}" for name, genes in content.items())
    else:
        content = " ".join(content["symbol"] if reader == "read_genes" else content)
    return "read" if content == right else f"**wrong**: {content}"


def resolved(species: str, pairs: str) -> tuple[Counter[str], list[str]]:
    """Return how many aliases are resolved, ambiguous, open or wrong, and what is wrong."""
    meant = dict(pair.split("=") for pair in pairs.split())
    resolver, ways, wrong = Resolver((), species=species), Counter[str](), []
    for name, symbol in meant.items():
        row = resolver.resolve([name]).iloc[0]
        way = "resolved" if row["symbol"] == symbol else "wrong" if row["symbol"] else "open"
        if row["found"] == "ambiguous":
            way = "ambiguous" if f"{symbol} (" in row["candidates"] else "wrong"
        if way == "wrong":
            wrong.append(f"{name} {row['symbol'] or row['candidates']}")
        ways[way] += 1
    return ways, wrong


def line_of_today(line: str) -> str:
    """Return a line of the page with what comes out now."""
    if table := TABLE.match(line):
        *case, before = table.groups()
        return f"{line.removesuffix(f'{before}|')} {outcome(*case)} |"
    if aliases := ALIASES.match(line):
        *case, before = aliases.groups()
        ways, wrong = resolved(*case)
        numbers = " | ".join(str(ways[way]) for way in ("resolved", "ambiguous", "open"))
        wrong = f"{ways['wrong']}{': ' * bool(wrong)}{', '.join(wrong)}"
        return f"{line.removesuffix(f'{before}|')} {numbers} | {wrong} |"
    return line


def main() -> None:
    """Print or write the lines."""
    options = parser(__doc__ or "")
    options.add_argument("--write", action="store_true", help="write the page")
    lines = PAGE.read_text("utf-8").split("\n")
    today = [line_of_today(line) for line in lines]
    if options.parse_args().write:
        PAGE.write_text("\n".join(today), "utf-8")
    rows = [line for line in today if TABLE.match(line) or ALIASES.match(line)]
    sys.stdout.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
