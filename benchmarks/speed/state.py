"""Which state of the code, and of the machine, a measurement is of."""

from __future__ import annotations

import hashlib
import os
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import glfs_bio

HERE = Path(__file__).resolve().parent
#: What a measured call runs, beside the package.
_SCRIPTS = ("task.py", "clock.py", "synthetic.py", "plain_lapaofs.py", "../panels/methods.py")
_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "pynndescent",
    "anndata",
    "scanpy",
    "triku",
    "hotspotsc",
)


def fingerprint() -> str:
    """Changes with the package, with what is measured, and with the versions of the peers."""
    home = Path(glfs_bio.__file__).parent
    files = [*sorted(home.rglob("*.py")), *(HERE / script for script in _SCRIPTS)]
    digest = hashlib.sha256(repr([(name, _version(name)) for name in _PACKAGES]).encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def commit() -> str:
    """The commit, and whether the working tree has changes."""
    command = ["git", "describe", "--always", "--dirty"]
    found = subprocess.run(command, cwd=HERE, capture_output=True, check=True, text=True)
    return found.stdout.strip()


def told() -> str:
    """A sentence for the note under a table."""
    load = f"load of the machine {os.getloadavg()[0]:.1f} at the end"
    return f"Code: {commit()}, with the changes of the working tree where it is dirty; {load}."


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
