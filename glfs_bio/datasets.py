"""Example data, as AnnData."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from anndata import AnnData, read_h5ad

from ._files import reason
from .checks import needs
from .errors import InvalidValue, Unreachable

__all__ = ["blood", "golub"]
__dir__ = __all__.copy

_TRAIN_SHA256 = "d82f928c573de78e56b0a6c42393a14d08148927060fac4178b40023ff0b0752"
_TEST_SHA256 = "7b3a9868d371ea1b5182f7c0242c920a52ddea5cb232fd387cfc2563f3dadce0"
_FILES = {
    "data_set_ALL_AML_train.csv": _TRAIN_SHA256,
    "data_set_ALL_AML_independent.csv": _TEST_SHA256,
}
_COMMIT = "c1adb976376075b2c5e38407e0f58529e7be8924"
_BASE = f"https://raw.githubusercontent.com/jhcui18/Leukemia_classifier/{_COMMIT}/"
_FOLDER = "GLFS_BIO_DATA"
#: Samples 1–38 are the training set.
_N_TRAIN = 38
_AML = {*range(28, 39), *range(50, 55), 57, 58, *range(60, 67)}
_CALLS = {"P": 2, "M": 1, "A": 0}


def blood() -> AnnData:
    """Load a reference without cells: the structure of 2,638 blood cells in 8,573 genes.

    It is of "3k PBMCs from a Healthy Donor" of 10x Genomics (CC BY 4.0), log-normalised, in the
    genes that 30 cells or more express, and was made by :func:`~glfs_bio.pp.structure` with eight
    types of cells and rounded: shares of panels differ by .001 from those of the cells.

    Returns
    -------
    AnnData of 0 cells, with what :func:`~glfs_bio.pp.structure` stores of ``labels="type"``.

    Examples
    --------
    >>> import glfs_bio
    >>> reference = glfs_bio.datasets.blood()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "PPBP"]
    >>> glfs_bio.tl.explain_panel(reference, panel, "type", inplace=False)["role"][1]
    'marker of B cells'
    """
    return read_h5ad(Path(__file__).with_name("blood.h5ad"))


def golub() -> AnnData:
    """Load the leukaemia microarrays of Golub et al. (1999): 47 patients with ALL and 25 with AML.

    The values are average differences as published, not log-normalised.  They are read from
    ``golub72.h5ad`` in the folder of the environment variable ``GLFS_BIO_DATA``, or else from two
    CSV files (4 MB), which are downloaded once, verified by their sha256, and cached.

    Returns
    -------
    AnnData of 72 samples × 7,129 probe sets, in the order of the sample numbers:

    ``.obs["label"]`` : category
        ``"ALL"`` or ``"AML"``.
    ``.obs["split"]`` : category
        ``"train"`` for samples 1–38, ``"test"`` for samples 39–72.
    ``.obs["sample"]`` : int
        Number of the sample.
    ``.var["description"]`` : str
        Description of the gene; the index is the accession number of the probe set.
    ``.layers["call"]`` : int8, shape (72, 7129)
        Presence: 2 present, 1 marginal, 0 absent.

    Examples
    --------
    >>> import glfs_bio
    >>> adata = glfs_bio.datasets.golub()  # doctest: +SKIP
    >>> adata.shape  # doctest: +SKIP
    (72, 7129)
    """
    folder = os.environ.get(_FOLDER)
    file = Path(folder or "", "golub72.h5ad")
    if folder and file.exists():
        return _common(read_h5ad(file))
    return _assembled([Path(_download(name)) for name in _FILES])


def _download(name: str) -> str:
    needs("A download", "pooch")
    import pooch
    import requests

    url, cache = _BASE + name, pooch.os_cache("glfs_bio")
    text = f"`{_FOLDER}` is not a folder with golub72.h5ad, and {url}"
    remedy = "go online, or name such a folder in the environment variable"
    try:
        return str(pooch.retrieve(url, known_hash=_FILES[name], fname=name, path=cache))
    except requests.RequestException as error:
        failure = f"cannot be downloaded ({type(error).__name__})"
        raise Unreachable(f"{text} {failure}: {remedy}") from error
    except ValueError as error:
        failure = f"differs from the published file ({reason(error)})"
        raise InvalidValue(f"{text} {failure}: {remedy}") from error


def _assembled(files: list[Path]) -> AnnData:
    """Return the data of the published files.

    Their columns after the first two are the number of a sample, in no order, and its ``call``.
    """
    frames = [pd.read_csv(file, index_col="Gene Accession Number") for file in files]
    descriptions = [frame.pop("Gene Description") for frame in frames]
    values = pd.concat([frame.iloc[:, ::2].T for frame in frames]).rename(index=int)
    calls = pd.concat([frame.iloc[:, 1::2].T for frame in frames]).set_axis(values.index)
    values, calls = values.sort_index(), calls.sort_index().map(_CALLS.__getitem__)
    numbers = values.index
    obs = pd.DataFrame({"sample": numbers}, index=[f"S{number}" for number in numbers])
    obs["label"] = ["AML" if number in _AML else "ALL" for number in numbers]
    obs["split"] = np.where(numbers <= _N_TRAIN, "train", "test")
    var = pd.DataFrame({"description": descriptions[0]}, index=values.columns)
    return _common(AnnData(values.to_numpy(), obs, var, layers={"call": calls.to_numpy()}))


def _common(adata: AnnData) -> AnnData:
    """Return the same object from both sources."""
    obs = adata.obs[["label", "split", "sample"]].astype({"label": "category", "split": "category"})
    var = pd.DataFrame({"description": adata.var["description"].astype(str)})
    var.index = var.index.astype(str).rename(None)
    calls = np.asarray(adata.layers["call"], dtype=np.int8)
    return AnnData(np.asarray(adata.X, dtype=np.float32), obs, var, layers={"call": calls})
