from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

# Where `make test` installs the R package: beside this Python.
LIBRARY = Path(sys.prefix) / "r" / "library"
FOUND = "cat(nzchar(system.file(package = 'glfsbio')))"


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "R_LIBS": os.environ.get("R_LIBS", str(LIBRARY)),
        "GLFSBIO_PYTHON": sys.prefix,
    }


def missing() -> str | None:
    if shutil.which("Rscript") is None:
        return "R is missing"
    if find_spec("rpy2") is None:
        return "rpy2 is missing"
    command = ["Rscript", "-e", FOUND]
    said = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return None if said.stdout == "TRUE" else "the R package glfsbio is missing: run make test"


@pytest.fixture(scope="session")
def _need_r():
    """Skips where there is no R, or fails where one is required."""
    if (reason := missing()) is not None:
        if os.environ.get("GLFS_BIO_REQUIRE_R"):
            pytest.fail(reason)
        pytest.skip(reason)


def started(*command, cwd: Path, env=None, **options) -> subprocess.Popen[str]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=env or environment(), cwd=cwd, **pipes, **options)


@pytest.fixture
def rscript(_need_r, tmp_path):
    """Start Rscript on a script that loads the package, in a folder of its own."""

    def start(code: str, *arguments: str, **options) -> subprocess.Popen[str]:
        number = len(list(tmp_path.glob("script*.R")))
        script = tmp_path / f"script{number}.R"
        script.write_text(f"suppressMessages(library(glfsbio))\n{code}", encoding="utf-8")
        return started("Rscript", script, *arguments, cwd=tmp_path, **options)

    return start


@pytest.fixture
def run_r(rscript):
    """Run such a script to its end; returns what it printed."""

    def run(code: str, *arguments: str) -> str:
        process = rscript(code, *arguments)
        out, err = process.communicate(timeout=3600)
        assert process.returncode == 0, out + err
        return out

    return run


@pytest.fixture
def python(_need_r, tmp_path):
    """Start Python on a script, with what it needs to embed R."""

    def start(code: str, **options) -> subprocess.Popen[str]:
        script = tmp_path / "script.py"
        script.write_text(code, encoding="utf-8")
        return started(sys.executable, "-u", "-W", "error", script, cwd=tmp_path, **options)

    return start


@pytest.fixture(scope="session")
def ri(_need_r):
    """R inside this process, with the package connected."""
    os.environ["R_LIBS"] = environment()["R_LIBS"]
    from glfs_bio import rbridge

    rbridge.register()
    return rbridge._rinterface()
