"""Checks of parameters: each names the parameter, its value, and what it should be.

And of the packages that come with an extra of ``pip install glfs-bio``.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from importlib.util import find_spec
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn

from .errors import InvalidType, InvalidValue, PackageMissing, quoted, short

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import ArrayLike

    from ._typing import Array

#: Keys of ``.uns``, ``.obsm``, ``.varm`` and ``.obsp``, and columns, that scanpy writes and reads.
_OF_SCANPY = {"neighbors", "connectivities", "distances", "pca", "umap", "tsne", "diffmap_evals"}
_OF_SCANPY |= {"X_pca", "X_umap", "X_tsne", "X_diffmap", "PCs", "spatial", "draw_graph", "paga"}
_OF_SCANPY |= {"log1p", "hvg", "highly_variable", "leiden", "louvain", "rank_genes_groups", "iroot"}
#: Keys that HDF5 and folders of zarr hold, with what is appended to them.
_KEY_OF_FILES = re.compile(r"(?!\.\.?$)[^/\0]{1,200}")
_LARGEST: Any = sys.float_info.max
#: Smaller numbers have lost digits, and their inverse may be infinite.
_SMALLEST: Any = sys.float_info.min
_OR_NONE = ", or `None`"
#: The extra that each package comes with.
_EXTRAS = {
    "gseapy": "enrich",
    "jinja2": "report",
    "matplotlib": "scanpy",
    "openpyxl": "xlsx",
    "pooch": "datasets",
    "python_calamine": "xlsx",
    "scanpy": "scanpy",
    "typer": "cli",
}


def needs(task: str, *packages: str) -> None:
    """Refuse, before any work, what `packages` are missing for."""
    for package in packages:
        if find_spec(package) is None:
            remedy = f"pip install 'glfs-bio[{_EXTRAS[package]}]'"
            raise PackageMissing(f"{task} needs the package `{package}`: {remedy}")


def _refuse(name: str, value: object, allowed: str, *, right_type: bool) -> NoReturn:
    """Refuse a value of the wrong type, or out of range."""
    kind = InvalidValue if right_type else InvalidType
    raise kind(f"`{name}={short(value)}` must be {allowed}")


def one_of(name: str, value: object, choices: Collection[object]) -> None:
    """Refuse a value that is not among `choices`, which are strings, or None."""
    if not isinstance(value, str | None) or value not in choices:
        raise InvalidValue(f"`{name}={short(value)}` is unknown: choose one of {quoted(*choices)}")


def texts(*, or_none: bool = False, **arguments: object) -> None:
    """Refuse arguments that are not strings, or are empty."""
    allowed = f"a string that is not empty{_OR_NONE if or_none else ''}"
    for name, value in arguments.items():
        is_text = isinstance(value, str)
        if not (is_text and value) and not (or_none and value is None):
            _refuse(name, value, allowed, right_type=is_text)


def keys(**arguments: object) -> None:
    """Refuse arguments that cannot name what is written, or would replace what scanpy writes."""
    texts(or_none=False, **arguments)
    for name, value in arguments.items():
        is_of_files = _KEY_OF_FILES.fullmatch(str(value))
        if value in _OF_SCANPY or not is_of_files:
            why = "is a key of scanpy" if is_of_files else "is no key of files, as `glfs` is"
            raise InvalidValue(f"`{name}={short(value)}` {why}: choose another name")


def flags(**arguments: object) -> None:
    """Refuse arguments that are neither True nor False."""
    for name, value in arguments.items():
        if type(value).__name__ not in {"bool", "bool_"}:  # numpy's too, without importing it
            raise InvalidType(f"`{name}={short(value)}` must be `True` or `False`")


def seed(value: Any) -> None:
    """Refuse a `random_state` that is no seed; a generator would give other results."""
    whole_number("random_state", value, at_least=0, at_most=2**32 - 1, or_none=True)


def real(name: str, values: ArrayLike) -> Array:
    """Numbers as a float array, or what is wrong with them."""
    import numpy as np

    array = np.asarray(values)
    if array.dtype == object:
        with suppress(TypeError, ValueError, OverflowError):  # what remains is refused
            array = array.astype(np.float64)
    if array.dtype.kind not in "buif":
        raise InvalidType(f"`{name}` must hold real numbers")
    if not np.isfinite(array).all():
        raise InvalidValue(f"`{name}` has values that are not finite: replace or remove them")
    return np.asarray(array, dtype=np.float64)


def whole_number(
    name: str, value: Any, *, at_least: int, at_most: int | None = None, or_none: bool = False
) -> None:
    """Refuse what is not an integer in range."""
    if or_none and value is None:
        return
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or value < at_least or (at_most is not None and value > at_most):
        allowed = f"≥ {at_least}" if at_most is None else f"from {at_least} to {at_most}"
        allowed += _OR_NONE if or_none else ""
        _refuse(name, value, f"an integer {allowed}", right_type=is_whole)


def whole_numbers(name: str, values: Any, *, at_most: int) -> list[int]:
    """One number from 1 to `at_most`, or several, as a list; or refuse them."""
    import numpy as np

    numbers = list(values) if np.ndim(values) == 1 else [values]
    for number in numbers:
        whole_number(name, number, at_least=1)
    if not numbers or max(numbers) > at_most:
        raise InvalidValue(f"`{name}={short(values)}` must be from 1 to the {at_most} genes")
    return numbers


def number(name: str, value: Any, *, above: float | None = None, or_none: bool = False) -> Any:
    """Return a finite number ≥ 0, or above another one, or refuse what is none."""
    if or_none and value is None:
        return None
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number:
        plain: Any = value.item() if hasattr(value, "item") else value  # float32's largest
        too_small = plain < 0 if above is None else plain <= above
        if not too_small and (plain == 0 or _SMALLEST <= abs(plain) <= _LARGEST):
            return value
    least = "≥ 0" if above is None else f"> {above:g}"
    size = f", 0 or at least {_SMALLEST:.2g}" if is_number and 0 < abs(value) < 1 else ""
    size += _OR_NONE if or_none else ""
    _refuse(name, value, f"a finite number {least}{size}", right_type=is_number)


def share(name: str, value: Any) -> None:
    """Refuse what is not a share from 0 to below 1."""
    number(name, value)
    if value >= 1:
        raise InvalidValue(f"`{name}={short(value)}` must be a share below 1")
