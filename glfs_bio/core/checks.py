"""Checks of parameters: each names the parameter, its value, and what it should be."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection


def one_of(name: str, value: object, choices: Collection[object]) -> None:
    """Refuse a value that is not among `choices`."""
    if value not in choices:
        msg = f"{name}={value!r} is not known: choose one of {', '.join(map(repr, choices))}."
        raise ValueError(msg)


def whole_number(name: str, value: object, *, at_least: int, or_none: bool = False) -> None:
    """Refuse what is not an integer of a minimal size."""
    if or_none and value is None:
        return
    allowed = f"an integer ≥ {at_least}" + (", or None" if or_none else "")
    if not isinstance(value, Integral) or isinstance(value, bool | np.bool_):
        msg = f"{name}={value!r} must be {allowed}, not {type(value).__name__}."
        raise TypeError(msg)
    if value < at_least:
        msg = f"{name}={value!r} must be {allowed}."
        raise ValueError(msg)


def number(name: str, value: object, *, above: float | None = None, at_least: float = 0.0) -> None:
    """Refuse what is not a finite number in range."""
    allowed = f"a finite number ≥ {at_least:g}" if above is None else f"a finite number > {above:g}"
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        msg = f"{name}={value!r} must be {allowed}, not {type(value).__name__}."
        raise TypeError(msg)
    too_small = value < at_least if above is None else value <= above
    if too_small or not np.isfinite(float(value)):
        msg = f"{name}={value!r} must be {allowed}."
        raise ValueError(msg)
