"""Figures of README.md, the documentation and the paper, held to the tables that they are from.

    python -m benchmarks.figures [--write]

Prints every line whose figures are not those of `results`; `--write` puts those of the results in
their place.  What a sentence says of the figures is for a person to read again.  The tests compare
too, and look up every other figure of three decimals in the pages of results that its text names.
"""

from __future__ import annotations

import difflib
import re
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from . import tables
from .tables import numbers, read

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = tables.HOME.parent
NUMBER = r"[-+]?\d*\.?\d+"
#: Figures that need a source.
FIGURE = re.compile(r"(?<![\w.])\d*\.\d{3}(?!\d)")
#: Code, targets of links, and front matter: no prose.
ASIDE = re.compile(r"\A---\n.*?^---$|^```.*?^```$|`[^`\n]*`|\]\([^)]*\)", re.MULTILINE | re.DOTALL)

WORM, PBMC = "worm_neuron4186", "pbmc3k_2638"
BARON, KANG = "baron_human1_1937", "kang_ifnb13999"
#: The rest of the five, but for the first, whose table is on top.
OTHERS = (BARON, "sc_mixology_singlets1021", KANG)
#: Methods of the results, as pages call them.
CALLED = {
    "glfs_bio": "`glfs_bio`",
    "glfs_bio, labels": "`glfs_bio`, labels",
    "GLFS (2014)": "GLFS (2014)",
    "GLFS (2014), log counts": "GLFS (2014, log counts)",
    "select_genes, lapaofs": "LapAOFS",
    "geneBasis": "geneBasis",
    "Spapros PCA": "Spapros PCA",
    "GeneCover": "GeneCover",
    "SCMER": "SCMER",
    "hotspot, by C": "Hotspot",
    "hotspot, by Z": "Hotspot, by Z",
    "Pearson residuals": "Pearson residuals",
    "HVG seurat_v3": "HVG seurat_v3",
    "HVG cell_ranger": "HVG cell_ranger",
    "variance": "largest variance",
    "random": "random genes",
    "logistic regression, in turn": "logistic-regression markers",
    "t-test, in turn": "t-test markers",
    "Wilcoxon, in turn": "Wilcoxon markers",
}

#: Measures of the table of methods that are ahead, by the headings of their tables.
AHEAD = {
    "accuracy": "",
    **{
        name: f"{name}, five datasets: mean"
        for name in (
            "macro-F1",
            "rare-type F1",
            "kNN preservation",
            "kNN preservation, count splitting",
            "imputation",
            "imputation, count splitting",
            "cell score",
            "cell score, count splitting",
            "Leiden ARI",
            "k-means NMI",
        )
    },
    "genes correlated < 0.8": "genes correlated < 0.8: mean",
}
#: Rows of results that are no other method: all genes, and what sees cells of the instrument.
NO_METHOD = re.compile("^all genes|bright genes only")
OURS, LABELS, WILCOXON = "glfs_bio", "glfs_bio, labels", "Wilcoxon, in turn"
INSTRUMENT, THINNED = "glfs_bio, from the instrument", "counts thinned to 50 %"
#: What rows of `pairs` are told of the instrument.
NAMED, PILOT, FROM_IT = (
    f", {told}" for told in ("instrument named", "pilot of 300 cells", "from the instrument")
)
RHO = "Preserved structure against 15-NN accuracy, over arbitrary panels: Spearman's ρ"

Table = dict[str, dict[str, str]]


def called(name: str) -> str:
    """Return a method as pages call it."""
    return CALLED.get(name, name.replace(OURS, f"`{OURS}`", 1))


def mean(cell: str) -> str:
    """Return the mean of a cell; a dash where it is empty."""
    return f"{numbers(cell)[0]:.3f}" if numbers(cell) else "–"


def interval(cell: str) -> str:
    """Return the mean of a cell with its interval; a dash where it is empty."""
    return "{:.3f} [{:.3f}, {:.3f}]".format(*numbers(cell)[:3]) if numbers(cell) else "–"


@dataclass(frozen=True)
class Rows:
    """A table of a page: the cells of every row that it has, by row and column."""

    cells: Table

    def place(self, head: str, text: str) -> tuple[re.Match, str]:
        """Return where the table stands, and its text with these cells."""
        found = _once(rf"^{re.escape(head)}.*\n(?:^\|.*\|\n)+", text, head)
        (_, *columns), *rows = tables.table_rows(found[0])
        lines = [
            " | ".join([name, *(self.cells[name].get(column, "–") for column in columns)])
            for name, *_ in rows
        ]
        start = found[0].splitlines()[:2]
        return found, "\n".join([*start, *(f"| {line} |" for line in lines), ""])


@dataclass(frozen=True)
class Sentence:
    """Words of a page, and the numbers that stand for `{}` in them."""

    values: tuple[float, ...]

    def place(self, words: str, text: str) -> tuple[re.Match, str]:
        """Return where the words stand, and the same with these numbers."""
        expression = re.escape(words).replace(r"\ ", r"\s+").replace(r"\{\}", f"({NUMBER})")
        found = _once(expression, text, words)
        new = found[0]
        for group in reversed(range(len(self.values))):
            shown = found[group + 1]
            low, high = (place - found.start() for place in found.span(group + 1))
            new = new[:low] + _like(shown, self.values[group]) + new[high:]
        return found, new


def _once(expression: str, text: str, words: str) -> re.Match:
    found = list(re.finditer(expression, text, re.MULTILINE))
    if len(found) != 1:
        raise LookupError(f"found {len(found)} times, and not once: {words}")
    return found[0]


def _like(shown: str, value: float) -> str:
    """Return a number with the sign and the decimals of another."""
    sign = "+" if shown.startswith("+") else ""
    return f"{value:{sign}.{len(shown.partition('.')[2])}f}"


Claims = dict[str, Rows | Sentence]


def held(text: str, claims: Claims) -> tuple[str, str]:
    """Return a page with the figures of the results, and what is left of it without these."""
    placed = [claim.place(words, text) for words, claim in claims.items()]
    new = rest = ""
    end = 0
    for found, shown in sorted(placed, key=lambda one: one[0].start()):
        if found.start() < end:
            raise LookupError(f"in two claims: {found[0]}")
        between = text[end : found.start()]
        new, rest, end = new + between + shown, rest + between, found.end()
    return new + text[end:], rest + text[end:]


def unsourced(text: str) -> list[str]:
    """Return the figures of prose that are not in the pages of results that it names.

    A paragraph, an item of a list or a row of a table names pages as ``peers.md``; one without a
    name has those of the text before it.
    """
    found, known = [], set()
    for part in re.split(r"\n\s*\n|\n(?=- |\|)", text):
        if pages_named := re.findall(r"(\w+)\.md\b", part):
            known = set().union(*map(_figures_of, pages_named))
        found += [one for one in FIGURE.findall(ASIDE.sub("", part)) if float(one) not in known]
    return found


@cache
def _figures_of(name: str) -> frozenset[float]:
    page = tables.RESULTS / f"{name}.md"
    return frozenset(map(abs, numbers(page.read_text("utf-8")))) if page.exists() else frozenset()


def rows(table: Table, show: Callable[[str], str]) -> Rows:
    """Return a table with the methods as pages call them."""
    return Rows(
        {
            CALLED[name]: {column: show(cell) for column, cell in row.items()}
            for name, row in table.items()
            if name in CALLED
        }
    )


def numbers_of(*cells: str | float) -> Sentence:
    """Return the means of some cells, or numbers as they are."""
    return Sentence(tuple(numbers(one)[0] if isinstance(one, str) else one for one in cells))


def column(table: Table, name: str, *methods: str) -> Sentence:
    """Return the means of some methods in a column."""
    return numbers_of(*(table[one][name] for one in methods))


def ahead_by(cell: str) -> list[float]:
    """Return how far a method of `imaging` is ahead of glfs_bio, and the interval."""
    _, difference, low, high = numbers(cell)
    return [-difference, -high, -low]


def ahead(table: Table, size: str, ours: str = OURS, n_methods: int | None = None) -> str:
    """Return other methods whose mean is above that of glfs_bio, the best first."""
    means = {name: numbers(row[size])[0] for name, row in table.items() if numbers(row[size])}
    best = sorted(means, key=lambda name: -means[name])
    found = [
        name
        for name in best
        if means[name] > means[ours] and OURS not in name and not NO_METHOD.search(name)
    ]
    shown = [f"{CALLED.get(one, one)} {means[one]:.3f}" for one in found[:n_methods]]
    return ", ".join(shown) or "none"


def beside(table: Table, size: str, ours: str = OURS) -> dict[str, str]:
    """Return the mean of glfs_bio, and all other methods that are ahead of it."""
    return {"`glfs_bio`": mean(table[ours][size]), "ahead of it": ahead(table, size, ours)}


def costs(table: Table, size: str, name: str) -> float:
    """Return what naming an instrument costs a row."""
    return numbers(table[name][size])[0] - numbers(table[f"{name}, instrument named"][size])[0]


def bounds(table: Table, column: str) -> tuple[float, float]:
    """Return the smallest and the largest value of a column."""
    values = [numbers(row[column])[0] for row in table.values()]
    return min(values), max(values)


def average(tables_of: list[Table], name: str, size: str) -> float:
    """Return the mean of a method over some datasets."""
    return sum(numbers(table[name][size])[0] for table in tables_of) / len(tables_of)


def originals(table: Table) -> Table:
    """Return the rows of the original GLFS."""
    return {name: row for name, row in table.items() if name != OURS}


def on_instruments() -> Table:
    """Return the rows of `pairs`, with that of ordered pairs of types, which are younger."""
    return read("pairs") | {f"{LABELS}{NAMED}": read("pairs_draws")[f"{LABELS}{NAMED}"]}


def pages() -> dict[str, Claims]:
    """Return the pages with figures, and where these are from."""
    # of its solver of today, which peers does not have
    accuracy = read("peers") | originals(read("original"))
    labels = read("panels_labels")
    over_all = read("peers", "accuracy, five datasets: glfs_bio minus others")
    over_f1 = read("peers", "macro-F1, five datasets: glfs_bio minus others")
    worm = read("peers_datasets", f"accuracy on {WORM}")
    others = [read("peers_datasets"), *(read("peers_datasets", f"accuracy on {o}") for o in OTHERS)]
    measures = {name: read("peers", heading) for name, heading in AHEAD.items()}
    measures |= {"accuracy": accuracy}
    measures["kNN preservation"] |= originals(read("original", "kNN preservation"))
    imaging, merfish = read("imaging"), read("imaging", "10x → MERFISH: accuracy")
    pairs = on_instruments()
    same_assay = read("pairs", "What naming an instrument costs on the same assay: accuracy")
    labels_there = read("pairs_draws", "On the same assay: accuracy")
    halves, halves_10 = read("panels_stability"), read("panels_stability", "Panels of 10 genes")
    perturbed = read("peers_stability")
    optimality = {name: row for name, row in read("panels_criterion").items() if "_" in name}
    orders = read("panels_criterion", RHO)
    own, markers = labels[LABELS].values(), labels["logistic regression, in turn"].values()
    pooled, one_size = bounds(orders, "all"), bounds(orders, "of one size, mean")
    return {
        "README.md": {
            "take {} s on one core": numbers_of(
                read("speed")["select_genes, from nothing"]["10,000"]
            ),
            "| measure |": Rows(
                {
                    "accuracy, 50 genes": beside(accuracy, "50"),
                    "neighbours of cells, 50 genes": beside(measures["kNN preservation"], "50"),
                    "prediction of other genes, 50 genes": beside(measures["imputation"], "50"),
                    "genes shared by split halves, 50 genes": beside(halves, "mean"),
                    "accuracy with labels, 25 genes": beside(labels, "25", LABELS),
                    "imaging: accuracy, 10 genes": beside(imaging, "10"),
                    "on an instrument: accuracy, 10 genes": beside(pairs, "10"),
                }
            ),
            "geneBasis is {} accurate, Spapros PCA {} and HVG seurat_v3 {}.": column(
                accuracy, "50", "geneBasis", "Spapros PCA", "HVG seurat_v3"
            ),
            "{} and {} in the last two rows, behind these markers; on a named one {}": numbers_of(
                imaging[LABELS]["10"], *(pairs[f"{LABELS}{told}"]["10"] for told in ("", NAMED))
            ),
        },
        "paper/paper.md": {
            "| method |": rows(accuracy, mean),
            "mean Jaccard index of {}; Pearson residuals have {}.": column(
                halves, "mean", OURS, "Pearson residuals"
            ),
            "they are {}, {}, {} and {} accurate": numbers_of(*own),
            "Markers from logistic regression are {}, {}, {} and {} accurate": numbers_of(*markers),
            "{} or more with 10 genes, {} or more with 50, and {} or more with 200": numbers_of(
                *(bounds(optimality, size)[0] for size in ("10", "50", "200"))
            ),
            "between {} and {} over panels of all sizes": numbers_of(*pooled),
            "between {} and {} among panels of one size": numbers_of(*one_size),
            "10 genes are {} accurate on the instrument, and Wilcoxon markers {}.": column(
                pairs, "10", OURS, WILCOXON
            ),
        },
        "docs/benchmarks/index.md": {
            "| genes | 10 | 50 | 150 |": rows(accuracy, interval),
            "over geneBasis with 50 genes, {} [{}, {}]": numbers_of(
                *numbers(over_all["geneBasis"]["50"])
            ),
            "from the worm neurons ({} against {})": column(worm, "50", OURS, "geneBasis"),
            "the other four datasets have {} and {}": numbers_of(
                *(average(others, name, "50") for name in (OURS, "geneBasis"))
            ),
            "it is {} behind with 25": column(over_all, "25", "SCMER"),
            "genes and {} with 50,": column(over_all, "50", "SCMER"),
            "with 150 genes {} ahead in macro-F1": numbers_of(-numbers(over_f1["SCMER"]["150"])[0]),
            "| measure |": Rows(
                {
                    name: {
                        "50 genes": mean(table[OURS]["50"]),
                        "methods ahead": ahead(table, "50"),
                        "150 genes": mean(table[OURS]["150"]),
                        "furthest ahead with 150": ahead(table, "150", n_methods=1),
                    }
                    for name, table in measures.items()
                }
            ),
            "| genes | 5 |": rows(imaging, mean),
            "`glfs_bio` is {} [{}, {}] ahead": numbers_of(
                *numbers(imaging["GLFS (2014)"]["5"])[1:]
            ),
            "Wilcoxon markers are {} [{}, {}] ahead": numbers_of(
                *ahead_by(imaging[WILCOXON]["10"])
            ),
            "has {} on MERFISH cells; geneBasis has {}, GeneCover {}, t-test markers {}, and "
            "`glfs_bio` from MERFISH cells {}.": column(
                merfish, "10", OURS, "geneBasis", "GeneCover", "t-test, in turn", INSTRUMENT
            ),
            "| chosen from a reference by | 5 |": Rows(
                {
                    called(name): {size: mean(cell) for size, cell in row.items()}
                    for name, row in pairs.items()
                }
            ),
            "| genes | 10 | 25 |": rows(labels, mean),
            "| genes | 10, split": Rows(
                {
                    CALLED[name]: {
                        "10, split halves": mean(halves_10.get(name, {}).get("mean", "")),
                        "50, split halves": mean(halves.get(name, {}).get("mean", "")),
                        "50, half of the molecules": mean(perturbed[name][THINNED]),
                    }
                    for name in CALLED
                    if name in perturbed
                }
            ),
            "one pair of halves: Spapros PCA {}, geneBasis {}, GeneCover {}, `glfs_bio` {}": column(
                perturbed, "split halves", "Spapros PCA", "geneBasis", "GeneCover", OURS
            ),
            "loses macro-F1 with 20 ({} against {})": numbers_of(
                *(numbers(pairs[f"{OURS}{told}"]["20"])[1] for told in (NAMED, ""))
            ),
            "a name costs {} of accuracy with 10 genes; with labels {} with 25, and {} with 50": (
                numbers_of(
                    costs(same_assay, "10", "glfs_bio, no labels"),
                    *(costs(labels_there, size, LABELS) for size in ("25", "50")),
                )
            ),
            **run_time(),
        },
        "docs/howto/assays.md": {"| | leukaemia: accuracy |": bulk()},
        "docs/howto/preserve.md": {"| ribosomal and mitochondrial genes |": families()},
        "r_bridge/glfsbio/vignettes/glfsbio.Rmd": {
            "| blood, 2,638 cells |": in_r(),
            "| pancreas, 1,937 cells |": in_r("baron_human1_1937"),
        },
        "docs/concepts/instrument.md": {
            "are {} accurate on the instrument, {} if it is named, {} with 300 pilot cells, and {} "
            "if chosen from its own cells; twenty without a pilot are {} accurate": numbers_of(
                *(pairs[f"{LABELS}{told}"]["10"] for told in ("", NAMED, PILOT, FROM_IT)),
                pairs[f"{LABELS}{NAMED}"]["20"],
            ),
            "Wilcoxon markers have {} and {}, and {} against {} with five": numbers_of(
                *(pairs["Wilcoxon, in turn"][size] for size in ("10", "20", "5")),
                pairs[f"{LABELS}{NAMED}"]["5"],
            ),
        },
        "docs/concepts/limitations.md": {
            "is {} to {} by dataset": numbers_of(*pooled),
            "panels of one size it is {} to {} [": numbers_of(*one_size),
        },
    }


def run_time() -> Claims:
    """Return the figures of run time and memory."""
    seconds, memory = read("speed"), read("speed", "Peak memory of the process (GiB)")
    tools = read("peers", "Time and memory")
    ours = "select_genes, from nothing"
    return {
        "take {} s on one core and {} GiB. A backed file of a million cells takes {} s and {} "
        "GiB.": (
            numbers_of(
                *(one[ours]["10,000"] for one in (seconds, memory)),
                *(one[ours]["1,000,000"] for one in (seconds, memory)),
            )
        ),
        "| processor time (s) | 10,000": Rows(seconds),
        "`tl.classify`, which takes {} GiB": numbers_of(memory["classify"]["1,000,000"]),
        "a median of {} s with `glfs_bio`, {} s with Spapros PCA, {} s with GeneCover, {} s with "
        "geneBasis and {} s with SCMER": column(
            tools, "seconds", OURS, "Spapros PCA", "GeneCover", "geneBasis", "SCMER"
        ),
    }


def bulk() -> Rows:
    """Return the measures of panels of bulk data."""
    measures = {"accuracy": "accuracy", "imputation": "R²", "stability": "stability"}
    names = {"leukaemia, filtered": "leukaemia", "glioblastoma": "glioblastoma"}
    return Rows(
        {
            called(method): {
                f"{title}: {shown}": mean(row[f"{name}, {measure}"])
                for name, title in names.items()
                for measure, shown in measures.items()
            }
            for method, row in read("panels_bulk").items()
        }
    )


def families() -> Rows:
    """Return what panels without families of genes hold, and how well labels are predicted."""
    names = {KANG: "blood, stimulated or not", PBMC: "blood", BARON: "pancreas"}
    text = (tables.RESULTS / "panels_families.md").read_text("utf-8")
    found: Table = {}
    _, *lines = tables.table_rows(re.search(r"(?:^\|.*\|\n)+", text, re.MULTILINE)[0])
    for name, selection, unwanted, related, _, logistic, _ in lines:
        shown = f"{unwanted} / {related} / {mean(logistic)}"
        found.setdefault(selection, {})[names[name]] = shown
    return Rows(found)


#: Rows of the tables of the vignette of the R package.
IN_R = {
    "glfsbio": "glfsbio",
    "HVGs": "scran, HVGs",
    "findMarkers of clusters": "scran, findMarkers of clusters",
    "geneBasis": "geneBasis",
    "glfsbio, labels": "glfsbio, with the labels",
    "findMarkers of labels": "scran, findMarkers of the labels",
}


def in_r(heading: str = "") -> Rows:
    """Return what the vignette of the R package says of a dataset."""
    table = read("r_panels", heading)

    def cell(size: int, method: str, *measures: str) -> str:
        row = table[f"{size} genes, {method}"]
        return " / ".join(mean(row[measure]) for measure in measures)

    return Rows(
        {
            name: {
                **{
                    f"{size} genes": cell(size, method, "accuracy", "macro-F1") for size in (10, 50)
                },
                "50 genes, kNN": cell(50, method, "kNN preservation"),
            }
            for name, method in IN_R.items()
        }
    )


def main() -> None:
    """Compare, print, and write where asked to."""
    for name, claims in pages().items():
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        new, _ = held(text, claims)
        lines = difflib.unified_diff(text.splitlines(), new.splitlines(), name, name, "", "", 0, "")
        sys.stdout.writelines(f"{line}\n" for line in lines)
        if sys.argv[1:] == ["--write"]:
            page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
