"""Options of what a panel has to stay within."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

import glfs_bio

from . import _values as values


def _option(told: str) -> Any:
    return typer.Option(help=told, rich_help_panel="Limits on the panel", show_default=False)


_Number = float | None
_Whole = int | None
_Text = str | None


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits, costs and a budget; None is one that is not given."""

    min_mean: Annotated[_Number, _option("Least mean expression of a gene.")] = None
    max_mean: Annotated[_Number, _option("Most mean expression of a gene.")] = None
    min_cells: Annotated[_Number, _option("Least share of the cells that express it.")] = None
    max_cells: Annotated[_Number, _option("Most share of the cells that express it.")] = None
    min_mean_in_type: Annotated[
        _Number, _option("Least mean expression in the type where it is highest.")
    ] = None
    max_mean_in_type: Annotated[
        _Number, _option("Most mean expression in the type where it is highest.")
    ] = None
    min_cells_in_type: Annotated[
        _Number, _option("Least share of the cells in the type where it is highest.")
    ] = None
    max_cells_in_type: Annotated[
        _Number, _option("Most share of the cells in the type where it is highest.")
    ] = None
    max_total_per_cell: Annotated[
        _Number, _option("Most raw counts of the panel in a mean cell; needs --counts-layer.")
    ] = None
    max_total_per_type: Annotated[
        list[str] | None,
        _option("The same in the cells of every type, or of one as TYPE=NUMBER; may be repeated."),
    ] = None
    families: Annotated[_Text, _option("Families of genes: column of var, or a .gmt file.")] = None
    per_family: Annotated[_Whole, _option("Most genes of a family.")] = None
    per_type: Annotated[_Whole, _option("Fewest markers of each type.")] = None
    markers: Annotated[
        Path | None, _option("A .gmt file with the markers of each type, to be found if not given.")
    ] = None
    priority: Annotated[_Text, _option("Column of var: factor of what a gene adds.")] = None
    groupby: Annotated[_Text, _option("Column of obs with the types that limits are on.")] = None
    counts_layer: Annotated[_Text, _option("Layer of raw counts, or X.")] = None
    cost: Annotated[_Text, _option("Of a gene: column of var, or one number.")] = None
    budget: Annotated[_Number, _option("Most that the panel may cost.")] = None

    def arguments(self) -> dict[str, Any]:
        """Arguments of ``pp.select_genes`` and its like; those that are given.

        Raises
        ------
        OSError, TypeError, ValueError
            As :class:`glfs_bio.Limits` and :func:`glfs_bio.io.read_gmt`; no number after a type.
        """
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {name: value for name, value in given.items() if value is not None}
        beside = {name: given.pop(name) for name in _BESIDE if name in given}
        if "cost" in beside:
            beside["cost"] = values.number_or_name(beside["cost"])
        if "max_total_per_type" in given:
            given["max_total_per_type"] = _totals(given["max_total_per_type"])
        if str(given.get("families", "")).lower().endswith(".gmt"):
            given["families"] = glfs_bio.io.read_gmt(given["families"])
        if "markers" in given:
            given["markers"] = glfs_bio.io.read_gmt(given["markers"])
        return beside | ({"limits": glfs_bio.Limits(**given)} if given else {})


#: What is no field of :class:`glfs_bio.Limits`.
_BESIDE = ("counts_layer", "cost", "budget")


def _totals(words: list[str]) -> float | dict[str, float]:
    """One number, or one for some types.

    Raises
    ------
    ValueError
        Something else.
    """
    totals: dict[str, float] = {}
    for word in words:
        name, _, number = word.rpartition("=")
        try:
            totals[name] = float(number)
        except ValueError:
            name = ""
        if not name and (len(words) > 1 or not totals):
            msg = f"--max-total-per-type {word} must be a number, or TYPE=NUMBER for some types."
            raise ValueError(msg)
    return totals.get("", totals)
