"""Tables as Markdown, with what made them; means and differences with their intervals."""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

HOME = Path(__file__).parent
RESULTS = HOME / "results"
CACHE = HOME / ".cache"
PACKAGES = ("glfs-bio", "numpy", "scipy", "scikit-learn", "scanpy", "anndata")
#: Drawing of datasets.
SEED = 0
#: Titles of measures that are stored by another name.
TITLES = {
    "neighbours kept": "kNN preservation",
    "genes that no other repeats": "genes correlated < 0.8",
    "neighbours, independent noise": "kNN preservation, count splitting",
    "imputation, independent noise": "imputation, count splitting",
    "cell score, independent noise": "cell score, count splitting",
    "true directions": "true axes",
}


def say(text: str) -> None:
    """Print progress on stderr."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")


def parser(description: str) -> argparse.ArgumentParser:
    """Return a command line that shows the description as it is."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawTextHelpFormatter
    )


def selecting(description: str, methods: Mapping, datasets: Iterable) -> argparse.ArgumentParser:
    """Return a command line that asks for some methods, or groups of them, and datasets."""
    found = parser(description)
    groups = list(dict.fromkeys(method.group for method in methods.values()))
    found.add_argument(
        "--only",
        nargs="*",
        metavar="METHOD",
        default=groups,
        choices=[*groups, *methods],
        help=f"{', '.join(groups)}, or names: {'; '.join(methods)}",
    )
    names = list(datasets)
    found.add_argument("--datasets", nargs="+", metavar="DATASET", default=names, choices=names)
    return found


def named(only: Iterable[str], methods: Mapping) -> list[str]:
    """Return the methods that are named, or whose group is."""
    return [name for name, method in methods.items() if {name, method.group} & set(only)]


def installed(package: str) -> str:
    """Return name and version of a package."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


def command() -> str:
    """Return the command that runs this program."""
    module = Path(sys.argv[0]).resolve().relative_to(HOME.parent.resolve()).with_suffix("")
    name = ".".join(part for part in module.parts if part != "__main__")
    return " ".join([f"python -m {name}", *sys.argv[1:]])


def commit(folder: Path = HOME) -> str:
    """Return the commit of a working tree, marked where it has other changes than results."""
    describe = ["git", "describe", "--always", "--exclude=*"]
    but_results = [":/", ":(exclude,top)benchmarks/results"]
    changed = ["git", "status", "--porcelain", "--untracked-files=no", "--", *but_results]
    told, dirty = (
        subprocess.run(call, cwd=folder, capture_output=True, check=True, text=True).stdout.strip()
        for call in (describe, changed)
    )
    return f"{told}, with changes" if dirty else told


def write(
    name: str,
    table: pd.DataFrame,
    *sections: str,
    whole: bool = True,
    commits: Iterable[str] = (),
    **values: object,
) -> None:
    """Print a page, and write it to the results, or to the cache where a part was asked for.

    Parameters
    ----------
    name : str
        Name of the page; its title and notes are those of `pages.md`.
    table : DataFrame
        First table.
    *sections : str
        What follows the notes.
    whole : bool, default True
        Whether all was asked for that the page of the results has.
    commits : list of str, default ()
        Commits of the rows, where some were kept from earlier runs.
    **values : object
        What fills in the notes.
    """
    title, *notes = paragraphs(name, **values)
    versions = ", ".join(map(installed, PACKAGES))
    of = ", ".join(dict.fromkeys(commits)) or commit()
    made = (
        f"Command: `{command()}`; seed 0. Commit {of}. Python {platform.python_version()}, "
        f"{versions}; {os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[0]:.1f} "
        "at the end.\n"
    )
    page = "\n\n".join([f"# {title}", table.to_markdown(), *notes, *sections, made])
    (folder(whole=whole) / f"{name}.md").write_text(page, encoding="utf-8")
    sys.stdout.write(page)


def folder(*, whole: bool) -> Path:
    """Return the folder of pages and pictures of whole runs, or that of parts."""
    place = RESULTS if whole else CACHE / "parts"
    place.mkdir(parents=True, exist_ok=True)
    return place


def paragraphs(name: str, **values: object) -> list[str]:
    """Return title and notes of a page, filled in."""
    text = (HOME / "pages.md").read_text(encoding="utf-8")
    page = re.search(rf"^# {name}\n(.*?)(?=^# |\Z)", text, re.MULTILINE | re.DOTALL)[1]
    filled = Template(page).substitute(values)
    return [one.strip() for one in filled.split("\n\n") if one.strip()]


def read(name: str, heading: str = "") -> dict[str, dict[str, str]]:
    """Return a table of a page of the results: cells by row and column.

    Parameters
    ----------
    name : str
        Name of the page.
    heading : str, default ""
        Heading above the table; the first table of the page where it is empty.
    """
    text = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    if heading:
        text = re.split(rf"^#+ {re.escape(heading)}$", text, flags=re.MULTILINE)[1]
    head, *rows = table_rows(re.search(r"(?:^\|.*\|\n)+", text, re.MULTILINE)[0])
    return {row: dict(zip(head[1:], cells, strict=True)) for row, *cells in rows}


def table_rows(text: str) -> list[list[str]]:
    """Return the cells of a table in Markdown, its head first."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return [rows[0], *rows[2:]]


def numbers(cell: str) -> list[float]:
    """Return the numbers of a cell: a mean, and the ends of its interval where it has one."""
    return [float(number) for number in re.findall(r"[-+]?\d*\.?\d+", cell)]


def section(title: str, table: pd.DataFrame | str, level: int = 2) -> str:
    """Return a heading with a table or a text below it."""
    if not isinstance(table, str):
        table = "Not run yet." if table.empty else table.to_markdown()
    return f"{'#' * level} {title}\n\n{table}"


def titled(found: Mapping) -> dict:
    """Return measures by their titles."""
    return {TITLES.get(name, name): value for name, value in found.items()}


def failures(values: pd.DataFrame) -> str:
    """Return what has no panel, with the reason, small panels, and panels of other code."""
    lines = [
        f"- {method} on {name}: {error} ({', '.join(map(str, part['genes'].unique()))} genes, "
        f"{len(part)} panels)"
        for (method, name, error), part in values.dropna(subset="error").groupby(
            ["method", "dataset", "error"], sort=False
        )
    ]
    small = values[values["held"] < values["genes"]]
    lines += [
        f"- {method} on {name}: names {part['held'].min():.0f} to {part['held'].max():.0f} genes "
        "where more are asked for"
        for (method, name), part in small.groupby(["method", "dataset"], sort=False)
    ]
    lines += [
        f"- {name}: some panels come from an earlier state of the code"
        for name in values.loc[values["old"].eq(True), "method"].unique()
    ]
    return "\n".join(lines) or "None."


@dataclass(frozen=True)
class Estimate:
    """A mean over datasets and its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0

    @property
    def text(self) -> str:
        """The mean and its interval."""
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"

    @property
    def difference(self) -> str:
        """The same with signs, bold where the interval excludes zero; alone without interval."""
        if np.isnan(self.low):
            return f"{self.mean:+.3f}"
        text = f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"
        return f"**{text}**" if self.clear else text


def over_cells(values: np.ndarray) -> Estimate:
    """Return the mean over datasets of one method, or of differences, and its interval over cells.

    Everything is an array of datasets × (1 + resamples): the measure of all cells first, then of
    cells drawn with replacement.  The resamples of a dataset are the same for all methods, so that
    differences are paired.
    """
    resampled = values.mean(axis=0)
    return Estimate(float(resampled[0]), *_limits(resampled[1:]))


def paired(ours: np.ndarray, theirs: np.ndarray) -> Estimate:
    """Return the mean difference; its interval is over datasets and, within these, cells."""
    difference = ours - theirs
    n_datasets, n_resamples = len(difference), difference.shape[1] - 1
    drawn = np.random.default_rng(SEED).integers(n_datasets, size=(n_datasets, n_resamples))
    resampled = difference[drawn, 1 + np.arange(n_resamples)].mean(axis=0)
    return Estimate(float(difference[:, 0].mean()), *_limits(resampled))


def _limits(resampled: np.ndarray) -> tuple[float, float]:
    low, high = np.nanquantile(resampled, [0.025, 0.975])
    return float(low), float(high)
