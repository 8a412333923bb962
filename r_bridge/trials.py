"""Trials of the Python environment that the R package makes; prints a line for each.

    python r_bridge/trials.py [TRIAL ...]

It needs R with the package (R_LIBS), and a network, and takes minutes.  Every trial is R in
processes of their own, with few variables and a cache of its own.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

INSTALL = "invisible(glfs_install()); cat('installed\n')"
SELECT = "x <- glfs_select_genes(glfs_example(), 3); cat(sum(rowData(x)$glfs_selected), 'genes\n')"
#: Variables of a login, and where certificates and proxies are.
CLEAN = re.compile(r"HOME|PATH|R_LIBS|TMPDIR|SSL_.*|(?!PIP_)(?i:.*_(bundle|cert|proxy))")
OFFLINE = {
    **{"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "0"},
    **{"PIP_CONFIG_FILE": os.devnull},
}
FOREIGN = {
    **{"PYTHONPATH": "broken", "PYTHONHOME": "/nowhere", "PYTHONWARNINGS": "error"},
    **{"PIP_USER": "1", "PIP_TARGET": "/nowhere", "PIP_PREFIX": "/nowhere"},
    **{"PIP_CONSTRAINT": "/nowhere", "PIP_NO_BINARY": ":all:"},
    **{"VIRTUAL_ENV": "/nowhere", "RETICULATE_PYTHON": "/nowhere"},
}


def start(folder: Path, code: str, **settings: str) -> subprocess.Popen[str]:
    """Start R with the package in a folder, whose cache it uses."""
    variables = {name: value for name, value in os.environ.items() if CLEAN.fullmatch(name)}
    variables |= {"R_USER_CACHE_DIR": str(folder / "cache")} | settings
    command = ["Rscript", "-e", f"suppressMessages(library(glfsbio)); {code}"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, env=variables, cwd=folder, **pipes)


def output_of(process: subprocess.Popen[str]) -> str:
    """Return what a process printed, on one line, without what pip ignores."""
    lines = [line.strip() for line in process.communicate()[0].splitlines()]
    return " ".join(line for line in lines if not line.startswith(("Ignoring", "WARNING: Loc")))


def run(folder: Path, code: str, **settings: str) -> str:
    """Run R with the package to its end; return what it printed."""
    return output_of(start(folder, code, **settings))


def clean(folder: Path) -> str:
    """Install with the variables of a login, then select without a network."""
    return f"{run(folder, INSTALL)} // {run(folder, SELECT, **OFFLINE)}"


def no_pip_settings(folder: Path) -> str:
    """Install without any file or variable of pip."""
    return run(folder, INSTALL, PIP_CONFIG_FILE=os.devnull)


def two_at_once(folder: Path) -> str:
    """Select in two sessions, of two locales, among settings of other Pythons.

    One makes the environment, the other waits for it, and later none needs a network.
    """
    for name in ("broken/numpy", "broken/glfs_bio", "glfs_bio"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise SystemExit\n")
    sessions = [start(folder, SELECT, LC_ALL=name, **FOREIGN) for name in ("C", "C.UTF-8")]
    outputs = [output_of(session) for session in sessions]
    other = run(folder, SELECT, LC_ALL="C.UTF-8", **OFFLINE, **FOREIGN)
    printed = " // ".join([*outputs, f"later, offline: {other}"])
    assert printed.count("makes its Python environment") == 1, printed
    assert printed.count("waiting for it") == 1, printed
    assert all("3 genes" in text for text in (*outputs, other)), printed
    (environment,) = folder.glob("cache/R/glfsbio/*")  # without its lock
    used = sum(path.lstat().st_blocks * 512 for path in environment.rglob("*")) / 2**20
    assert used <= 650, f"{used:.0f} MB"
    assert not list(environment.glob("**/site-packages/scanpy"))
    return printed


def killed(folder: Path) -> str:
    """Kill a session that installs; the next one takes its lock, and finds no network."""
    session = start(folder, INSTALL)
    while not list(folder.glob("cache/R/glfsbio/*.new*/bin")) and session.poll() is None:
        time.sleep(0.05)
    session.kill()
    session.communicate()
    output = run(folder, INSTALL, **OFFLINE)
    return f"{output} // left: {[path.name for path in folder.glob('cache/R/glfsbio/*')]}"


def offline(folder: Path) -> str:
    """Find no index of packages."""
    return run(folder, INSTALL, **OFFLINE)


def untrusted(folder: Path) -> str:
    """Trust no certificate of the index."""
    (folder / "none.pem").touch()
    names = ("PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
    settings = dict.fromkeys(names, str(folder / "none.pem")) | {"PIP_NO_CACHE_DIR": "1"}
    return run(folder, INSTALL, PIP_CONFIG_FILE=os.devnull, **settings)


def unwritable(folder: Path) -> str:
    """Have a file in the place of the cache."""
    (folder / "cache").touch()
    return run(folder, INSTALL)


def foreign_python(folder: Path) -> str:
    """Name a program that is no Python."""
    return run(folder, "glfs_install('/bin/sh')")


TRIALS = (clean, no_pip_settings, two_at_once, killed, offline, untrusted, unwritable)
for trial in (*TRIALS, foreign_python):
    if sys.argv[1:] and trial.__name__ not in sys.argv[1:]:
        continue
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        output = trial(Path(name)).replace(name, "~")
    print(f"{trial.__name__} ({time.perf_counter() - begin:.0f} s): {output[:700]}", flush=True)
