"""Versions of the packages that a record was made with."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

#: Those that every number depends on.
_NUMERICAL = ("glfs-bio", "numpy", "scipy", "scikit-learn", "anndata")


def versions(*packages: str) -> dict[str, str]:
    """By name; of the packages that do the numerical work where none are named."""
    return {package: _version(package) for package in packages or _NUMERICAL}


@cache  # each reading parses the metadata of a package, for some 10 ms
def _version(package: str) -> str:
    return version(package)
