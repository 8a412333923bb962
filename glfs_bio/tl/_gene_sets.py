"""Gene sets, from wherever the user has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..io import read_gmt

if TYPE_CHECKING:
    from collections.abc import Collection

_SIMILAR = 5


def gene_sets(
    source: str | Path | Mapping[str, Collection[str]], organism: str
) -> dict[str, list[str]]:
    """Genes by the name of the set, each once: a mapping, a GMT file, or a library by its name.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        Not gene sets, or a file that is missing or malformed.
    ConnectionError
        A library, and no way to it.
    """
    if isinstance(source, Mapping):
        return _mapping(source)
    if not isinstance(source, str | Path):
        msg = (
            f"gene_sets is a {type(source).__name__}: give the path of a GMT file, a dict of name "
            "→ genes, or the name of a gseapy library."
        )
        raise TypeError(msg)
    path = Path(source)
    if isinstance(source, Path) or path.suffix.lower() == ".gmt" or path.exists():
        return read_gmt(path)
    return _library(source, organism)


def _mapping(source: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    if not source:
        msg = "gene_sets is empty: there is nothing to test."
        raise ValueError(msg)
    for name, genes in source.items():
        if isinstance(genes, str) or not hasattr(genes, "__iter__"):
            msg = f"gene_sets[{name!r}] is {genes!r}: it must be a list of gene names."
            raise TypeError(msg)
    return {str(name): list(dict.fromkeys(map(str, genes))) for name, genes in source.items()}


def _library(name: str, organism: str) -> dict[str, list[str]]:
    import difflib

    import gseapy
    import requests

    try:
        libraries = gseapy.get_library_name(organism=organism)
        if name in libraries:
            return _mapping(gseapy.parser.download_library(name, organism=organism))
    except requests.RequestException as error:
        msg = (
            f"gene_sets={name!r} is not a file, and the libraries of gseapy cannot be reached "
            f"({type(error).__name__}): go online, or give a GMT file or a dict."
        )
        raise ConnectionError(msg) from error
    similar = difflib.get_close_matches(name, libraries, n=_SIMILAR, cutoff=0.3)
    msg = (
        f"gene_sets={name!r} is neither a file nor a gseapy library for {organism}"
        + (f"; similar: {', '.join(similar)}." if similar else ".")
        + " gseapy.get_library_name() lists them."
    )
    raise ValueError(msg)
