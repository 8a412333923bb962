"""Classifiers of a few genes, as JSON: nothing in such a file can be executed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from .._docs import documented
from .._files import as_path, check_target, existing, reading, replacing
from ..errors import InvalidValue, call, shown
from . import read, results
from .classifier import PARTS, Classifier

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData

_TEXTS = ("genes", "classes", "symbols")
_NO_CLASSIFIER = f"is not a classifier of {call('io.write_classifier')}"
_FORMAT, _VERSION = "glfs_bio classifier", 1
#: What else of the record a file keeps.
_ABOUT = ("symbols", "n_genes", "n_labelled", "n_unlabelled", "lam", "versions")


@documented
def write_classifier(
    adata: AnnData, path: str | Path, *, key: str = "glfs_class", overwrite: bool = False
) -> None:
    """Write a classifier of a few genes to a JSON file.

    The file has the genes, coefficients, classes, parameters and versions.  It has no cells, except
    for the means of the genes over the training cells.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with a classifier of :func:`~glfs_bio.tl.classify`.
    path : str or path
        File to write, ``.json``.
    key : str, default "glfs_class"
        Key of the classifier.
    <overwrite>

    See Also
    --------
    read_classifier : Read the file.
    glfs_bio.tl.predict : Predict the labels of other cells.

    Examples
    --------
    >>> import scanpy as sc, tempfile, pathlib, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.tl.classify(adata, "bulk_labels", n_genes=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "blood.json"
    ...     glfs_bio.io.write_classifier(adata, path)
    ...     len(glfs_bio.io.read_classifier(path)["genes"])
    10
    """
    read.check(adata)
    path = as_path(path)
    check_target(path, overwrite=overwrite)
    if path.suffix.lower() != ".json":
        raise InvalidValue("path", str(path), "must end with .json")
    entry = results.entry(adata, key, "class")
    Classifier.of(entry, "key", key)
    kept = {name: _plain(entry[name]) for name in (*PARTS, *_ABOUT) if name in entry}
    params = {
        name: value
        for name, value in entry["params"].items()
        if not (isinstance(value, np.ndarray) and value.dtype == np.bool_)
    }
    text = json.dumps(
        {"format": _FORMAT, "format_version": _VERSION, **kept, "params": _plain(params)},
        ensure_ascii=False,
        allow_nan=False,
        indent=1,
    )
    with replacing(path, overwrite=overwrite) as target:
        target.write_text(text + "\n", encoding="utf-8")


def read_classifier(path: str | Path) -> dict[str, Any]:
    """Read a classifier of a few genes from a file of :func:`write_classifier`.

    Parameters
    ----------
    path : str or path
        File to read.

    Returns
    -------
    dict
        The keys of ``adata.uns[key]`` of :func:`~glfs_bio.tl.classify` that describe the
        classifier: ``genes``, ``classes``, ``coef``, ``intercept``, ``gene_means``,
        ``typical_margin``, ``params`` and ``versions``.

    See Also
    --------
    glfs_bio.tl.predict : Predict the labels of other cells.

    Examples
    --------
    >>> import scanpy as sc, tempfile, pathlib, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.tl.classify(adata, "louvain", n_genes=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "blood.json"
    ...     glfs_bio.io.write_classifier(adata, path)
    ...     model = glfs_bio.io.read_classifier(path)
    >>> model["coef"].shape
    (10, 11)
    """
    path = existing(path)
    with reading(path, "JSON"):
        found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict) or found.pop("format", None) != _FORMAT:
        raise InvalidValue("path", str(path), _NO_CLASSIFIER)
    written = found.pop("format_version", None)
    if written != _VERSION:
        raise InvalidValue(
            "path",
            str(path),
            f"has format version {shown(written)}, and this version of glfs-bio reads {_VERSION}",
            "install a later one",
        )
    Classifier.of(found, "path", str(path))
    names = {name: np.asarray(found[name], dtype=object) for name in _TEXTS if name in found}
    numbers = {name: np.asarray(found[name], dtype=float) for name in ("coef", "intercept")}
    return found | names | numbers | {"gene_means": np.asarray(found["gene_means"], dtype=float)}


def _plain(value: Any) -> Any:
    """What JSON can hold."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
