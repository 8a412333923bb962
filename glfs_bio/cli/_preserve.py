"""Options of what a panel is to keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from . import _values as values


@dataclass(frozen=True, kw_only=True)
class Preserve:
    """What a panel is to keep, and how much each cell counts; None is one that is not given."""

    preserve: Annotated[
        list[str] | None,
        typer.Option(
            help="What to keep: structure, expression, a column of obs (labels, or numbers), a key "
            "of obsm, a boolean var column, a file of genes, or names of genes with commas between "
            "them. Several of these: repeat the option, each with its weight as NAME=WEIGHT.",
            show_default="structure, or what a selection was made for",
        ),
    ] = None
    cell_weights: Annotated[
        str | None,
        typer.Option(help="How much each cell counts: column of obs, numbers or labels."),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Arguments of ``pp.select_genes`` and its like; those that are given.

        Raises
        ------
        ValueError
            A weight that is no number; a name that occurs twice; genes beside other things.
        OSError, ImportError
            As :func:`glfs_bio.io.read_panel`.
        """
        given = {"preserve": _kept(self.preserve), "cell_weights": self.cell_weights}
        return {name: value for name, value in given.items() if value is not None}


def _kept(words: list[str] | None) -> Any:
    """One thing as it is, and several with their weights.

    Raises
    ------
    ValueError
        As :meth:`Preserve.arguments`.
    """
    if not words:
        return None
    if len(words) == 1 and "=" not in words[0]:
        return values.genes(words) if _is_list(words[0]) else words[0]
    weights: dict[str, float] = {}
    for word in words:
        name, weight = _weighed(word)
        if _is_list(name):
            msg = (
                f"--preserve {word} is a list of genes, which stands alone and without a weight: "
                "name a file of them, or a boolean column of var."
            )
            raise ValueError(msg)
        if name in weights:
            msg = f"--preserve has {name} twice: give it once, as {name}=WEIGHT."
            raise ValueError(msg)
        weights[name] = weight
    return weights


def _is_list(word: str) -> bool:
    """Names of genes with commas between them, or a file that is read as such, as for PANEL."""
    return "," in word or word[:1] == "@"


def _weighed(word: str) -> tuple[str, float]:
    if "=" not in word:
        return word, 1.0
    name, _, number = word.rpartition("=")
    try:
        return name, float(number)
    except ValueError:
        msg = f"--preserve {word} must be NAME=WEIGHT, such as structure=2."
        raise ValueError(msg) from None
