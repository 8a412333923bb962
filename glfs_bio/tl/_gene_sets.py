"""Gene sets, from wherever the user has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import MAPPING, NO_VALUE, InvalidType, InvalidValue, Unreachable, listed
from ..platform.gmt import read_gmt

if TYPE_CHECKING:
    from collections.abc import Collection

_SIMILAR = 5
#: Where gseapy's libraries are, and seconds to wait for an answer.
_LIBRARIES, _PATIENCE = "https://maayanlab.cloud/Enrichr/", 5.0


def gene_sets(
    source: str | Path | Mapping[str, Collection[str]], organism: str
) -> dict[str, list[str]]:
    """Genes by the name of the set, each once: a mapping, a GMT file, or a library by its name."""
    if isinstance(source, Mapping):
        return _mapping(source)
    if not isinstance(source, str | Path):
        raise InvalidType(
            "gene_sets",
            source,
            "holds no gene sets",
            f"give a GMT file, a {MAPPING} of names and genes, or the name of a gseapy library",
        )
    path = Path(source)
    if isinstance(source, Path) or path.suffix.lower() == ".gmt" or path.exists():
        return read_gmt(path)
    return _library(source, organism)


def _mapping(source: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    if not source:
        raise InvalidValue("gene_sets", NO_VALUE, "is empty", "give at least one gene set")
    for name, genes in source.items():
        if isinstance(genes, str) or not hasattr(genes, "__iter__"):
            raise InvalidType("gene_sets", genes, f"must be a list of gene names for {str(name)!r}")
    return {str(name): list(dict.fromkeys(map(str, genes))) for name, genes in source.items()}


def _library(name: str, organism: str) -> dict[str, list[str]]:
    import difflib

    import gseapy
    import requests

    try:
        # gseapy itself tries for half a minute to reach what cannot be reached
        requests.head(_LIBRARIES, timeout=_PATIENCE)
        libraries = gseapy.get_library_name(organism=organism)
        if name in libraries:
            return _mapping(gseapy.parser.download_library(name, organism=organism))
    except requests.RequestException as error:
        raise Unreachable(
            "gene_sets",
            name,
            f"is no file, and the libraries of gseapy cannot be reached ({type(error).__name__})",
            f"go online, or give a GMT file or a {MAPPING}",
        ) from error
    similar = difflib.get_close_matches(name, libraries, n=_SIMILAR, cutoff=0.3)
    raise InvalidValue(
        "gene_sets",
        name,
        f"is neither a file nor a gseapy library for {organism}",
        f"choose one of gseapy.get_library_name() (similar: {listed(similar)})",
    )
