"""In a real shell: completion, closed streams, and names that a terminal would obey."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import anndata as ad
import numpy as np
import pytest
from typer.testing import CliRunner

from glfs_bio.cli import app

PROGRAM = Path(sys.executable).with_name("glfs-bio")


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.eye(3), 20, axis=0)
    values = np.hstack([3 * groups + rng.random((60, 3)), rng.random((60, 17))])
    adata = ad.AnnData(values)
    adata.var_names = [f"g{i}" for i in range(20)]
    adata.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path


def run(shell, script, folder):
    environment = os.environ | {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    return subprocess.run(
        [shell, "-c", script],
        capture_output=True, text=True, check=False, cwd=folder, env=environment, timeout=3600,
    )  # fmt: skip


BASH = """
source <(_GLFS_BIO_COMPLETE=source_bash glfs-bio)
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_glfs_bio_completion glfs-bio
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
autoload -U compinit && compinit -u -D
compdef() {{ : }}
_arguments() {{ print -l -- "$@" }}
_describe() {{ shift; for one in "$@"; do print -l -- ${{(P)one}}; done }}
env _TYPER_COMPLETE_ARGS="{words}" _GLFS_BIO_COMPLETE=complete_zsh glfs-bio > answer
grep -o '"[^"]*"' answer
"""


@pytest.mark.parametrize(
    ("shell", "script", "words", "expected"),
    [
        ("bash", BASH, "glfs-bio struc", "structure"),
        ("zsh", ZSH, "glfs-bio select --n-g", "--n-genes"),
    ],
)
def test_completion(folder, shell, script, words, expected):
    done = run(shell, script.format(words=words), folder)
    assert expected in done.stdout, done.stderr


def test_a_closed_stdout_is_said(folder):
    for words in ("", "--json"):
        done = run("bash", f"glfs-bio select cells.h5ad -n 2 --n-comps 5 {words} >&-", folder)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "stdout" in done.stderr


def test_files_are_written_though_nobody_reads_stdout(folder):
    """As in ``glfs-bio select … | head -1``."""
    command = [PROGRAM, "select", "cells.h5ad", "-n", "2", "--n-comps", "5", "-o", "out.h5ad"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
    ) as process:
        process.stdout.close()
        told = process.stderr.read().decode()
    assert "2 of 20 genes" in told
    assert "Traceback" not in told
    assert (folder / "out.h5ad").exists()


def test_names_that_a_terminal_would_obey(folder, monkeypatch):
    monkeypatch.chdir(folder)
    adata = ad.read_h5ad("cells.h5ad")
    adata.var_names = [f"\x1b[31m{name}" for name in adata.var_names]
    adata.write_h5ad("cells.h5ad")
    for line in (
        "select cells.h5ad -n 2 --n-comps 5 -o out.h5ad",
        "explain out.h5ad glfs",
        "select cells.h5ad -n 2 --include nothing",
    ):
        done = CliRunner().invoke(app, line.split())
        assert done.output
        assert "\x1b[31m" not in done.output
