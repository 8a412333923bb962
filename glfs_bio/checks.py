"""Checks of parameters: each names the parameter, its value, and what it should be."""

from __future__ import annotations

import sys
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import ArrayLike

    from ._typing import Array

#: Keys of ``.uns``, ``.obsm``, ``.varm`` and ``.obsp``, and columns, that scanpy writes and reads.
_OF_SCANPY = frozenset(
    {
        *("neighbors", "connectivities", "distances", "pca", "umap", "tsne", "diffmap_evals"),
        *("X_pca", "X_umap", "X_tsne", "X_diffmap", "PCs", "spatial", "draw_graph", "paga"),
        *("log1p", "hvg", "highly_variable", "leiden", "louvain", "rank_genes_groups", "iroot"),
    }
)
_LARGEST: Any = sys.float_info.max
#: scikit-learn's.
_LARGEST_SEED = 2**32 - 1


def one_of(name: str, value: object, choices: Collection[object]) -> None:
    """Refuse a value that is not among `choices`, which are strings, or None."""
    if not isinstance(value, str | None) or value not in choices:
        msg = f"{name}={value!r} is not known: choose one of {', '.join(map(repr, choices))}."
        raise ValueError(msg)


def texts(*, or_none: bool = False, **arguments: object) -> None:
    """Refuse arguments that are not strings, or are empty."""
    for name, value in arguments.items():
        if (or_none and value is None) or (isinstance(value, str) and value):
            continue
        allowed = "a string that is not empty" + (", or None" if or_none else "")
        msg = f"{name}={value!r} must be {allowed}"
        if isinstance(value, str):
            raise ValueError(f"{msg}.")
        raise TypeError(f"{msg}, not {type(value).__name__}.")


def keys(**arguments: object) -> None:
    """Refuse arguments that cannot name what is written, or would replace what scanpy writes."""
    texts(or_none=False, **arguments)
    for name, value in arguments.items():
        if value in _OF_SCANPY:
            msg = f"{name}={value!r} is where scanpy keeps results of its own: choose another name."
            raise ValueError(msg)
        if "/" in str(value):
            msg = f"{name}={value!r} must not have a slash: h5ad and zarr files could not keep it."
            raise ValueError(msg)


def no_anndata(values: object, name: str = "X") -> None:
    """Refuse an AnnData object where a matrix is needed, and say what takes it."""
    if hasattr(values, "obs_names") and hasattr(values, "var_names"):
        msg = (
            f"{name} is an AnnData object, and estimators take its matrix: pass adata.X, or call "
            "glfs_bio.pp.select_genes(adata) or glfs_bio.tl.classify(adata, groupby)."
        )
        raise TypeError(msg)


def flags(**arguments: object) -> None:
    """Refuse arguments that are neither True nor False."""
    for name, value in arguments.items():
        if not isinstance(value, bool | np.bool_):
            msg = f"{name}={value!r} must be True or False, not {type(value).__name__}."
            raise TypeError(msg)


def seed(value: object, *, state_too: bool = False) -> None:
    """Refuse a `random_state` that scikit-learn would; a generator only for estimators."""
    allowed = f"an integer from 0 to {_LARGEST_SEED}, or None"
    if value is None or (state_too and isinstance(value, np.random.RandomState)):
        return
    if not isinstance(value, Integral) or isinstance(value, bool | np.bool_):
        msg = f"random_state={value!r} must be {allowed}, not {type(value).__name__}."
        raise TypeError(msg)
    if not 0 <= int(value) <= _LARGEST_SEED:
        msg = f"random_state={value!r} must be {allowed}."
        raise ValueError(msg)


def real(name: str, values: ArrayLike) -> Array:
    """Numbers as a float array, or what is wrong with them.

    Raises
    ------
    TypeError
        Not real numbers.
    ValueError
        Not finite.
    """
    array = np.asarray(values)
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            msg = f"{name} must hold real numbers; it holds {type(array.ravel()[0]).__name__}."
            raise TypeError(msg) from None
    if array.dtype.kind not in "buif":
        msg = f"{name} has dtype {array.dtype}: it must hold real numbers."
        raise TypeError(msg)
    if not np.isfinite(array).all():
        msg = f"{name} has values that are not finite: replace or remove them."
        raise ValueError(msg)
    return np.asarray(array, dtype=np.float64)


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


def whole_numbers(name: str, values: Any, *, at_most: int) -> list[int]:
    """One number from 1 to `at_most`, or several, as a list; or refuse them."""
    numbers = list(values) if np.ndim(values) == 1 else [values]
    for number in numbers:
        whole_number(name, number, at_least=1)
    if not numbers or max(numbers) > at_most:
        msg = f"{name}={values!r} must hold numbers from 1 to the {at_most} genes."
        raise ValueError(msg)
    return numbers


def number(name: str, value: object, *, above: float | None = None, at_least: float = 0.0) -> None:
    """Refuse what is not a finite number in range."""
    allowed = f"a finite number ≥ {at_least:g}" if above is None else f"a finite number > {above:g}"
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        msg = f"{name}={value!r} must be {allowed}, not {type(value).__name__}."
        raise TypeError(msg)
    plain = value.item() if isinstance(value, np.generic) else value  # float32 has a largest too
    too_small = plain < at_least if above is None else plain <= above
    if too_small or not abs(plain) <= _LARGEST:
        msg = f"{name}={value!r} must be {allowed}."
        raise ValueError(msg)
