"""Packages that come with an extra of ``pip install glfs-bio``."""

from __future__ import annotations

from importlib.util import find_spec

from .errors import PackageMissing

_EXTRAS = {
    "gseapy": "enrich",
    "jinja2": "report",
    "loompy": "loom",
    "matplotlib": "scanpy",
    "openpyxl": "xlsx",
    "pooch": "datasets",
    "scanpy": "scanpy",
    "typer": "cli",
}


def needs(task: str, *packages: str) -> None:
    """Refuse, before any work, what `packages` are missing for."""
    for package in packages:
        if find_spec(package) is None:
            remedy = f"pip install 'glfs-bio[{_EXTRAS[package]}]'"
            raise PackageMissing(f"{task} needs the package `{package}`: {remedy}")
