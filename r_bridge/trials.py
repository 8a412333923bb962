"""Trials of the Python environment that the R package makes: a line for each, and 1 if one fails.

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
#: The caches of pip know what was installed before.
NO_CACHE = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"}
OFFLINE = {**NO_CACHE, "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0"}
CERTIFICATES = ("PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
FOREIGN = {
    **{"PYTHONPATH": "broken", "PYTHONHOME": "/nowhere", "PYTHONWARNINGS": "error"},
    **{"PIP_USER": "1", "PIP_TARGET": "/nowhere", "PIP_PREFIX": "/nowhere"},
    **{"PIP_CONSTRAINT": "/nowhere", "PIP_NO_BINARY": ":all:", "VIRTUAL_ENV": "/nowhere"},
    **{"CONDA_PREFIX": "/nowhere", "CONDA_DEFAULT_ENV": "base", "RETICULATE_PYTHON": "/nowhere"},
}


def start(folder: Path, code: str, **settings: str) -> subprocess.Popen[str]:
    """Start R with the package in a folder, whose cache it uses."""
    variables = {name: value for name, value in os.environ.items() if CLEAN.fullmatch(name)}
    variables |= {"R_USER_CACHE_DIR": str(folder / "cache")} | settings
    command = ["Rscript", "-e", f"suppressMessages(library(glfsbio)); {code}"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, env=variables, cwd=folder, errors="replace", **pipes)


def output_of(process: subprocess.Popen[str]) -> str:
    """Return what a process printed, on one line, without what pip ignores."""
    lines = [line.strip() for line in process.communicate()[0].splitlines()]
    return " ".join(line for line in lines if not line.startswith(("Ignoring", "WARNING: Loc")))


def run(folder: Path, code: str, **settings: str) -> str:
    """Run R with the package to its end; return what it printed."""
    return output_of(start(folder, code, **settings))


def left_in(folder: Path) -> str:
    """Return what the cache holds, and the MB of it."""
    files = [path for path in folder.glob("cache/R/glfsbio/**/*") if not path.is_dir()]
    used = sum(path.lstat().st_blocks * 512 for path in files) / 2**20
    return f"left: {[path.name for path in folder.glob('cache/R/glfsbio/*')]} {used:.0f} MB"


def clean(folder: Path) -> str:
    """Install with the variables of a login, then select without a network."""
    return f"{run(folder, INSTALL)} // {run(folder, SELECT, **OFFLINE)} // {left_in(folder)}"


def no_pip_settings(folder: Path) -> str:
    """Install without any file or variable of pip."""
    return run(folder, INSTALL, PIP_CONFIG_FILE=os.devnull)


def two_at_once(folder: Path) -> str:
    """Select in two sessions: one makes the environment, the other waits for it."""
    sessions = [start(folder, SELECT) for _ in range(2)]
    return " // ".join(sorted(map(output_of, sessions)))


def killed(folder: Path) -> str:
    """Kill a session that installs; the next one installs."""
    session = start(folder, INSTALL)
    while not list(folder.glob("cache/R/glfsbio/*.new*/lib/*/site-packages/pip")):
        assert session.poll() is None, output_of(session)
        time.sleep(0.05)
    session.kill()
    session.communicate()
    return f"{run(folder, INSTALL)} // {left_in(folder)}"


def offline(folder: Path) -> str:
    """Find no index of packages."""
    return f"{run(folder, INSTALL, **OFFLINE)} // {left_in(folder)}"


def untrusted(folder: Path) -> str:
    """Trust no certificate of the index."""
    (folder / "none.pem").touch()
    return run(folder, INSTALL, **NO_CACHE, **dict.fromkeys(CERTIFICATES, str(folder / "none.pem")))


def unwritable(folder: Path) -> str:
    """Have a file in the place of the cache."""
    (folder / "cache").touch()
    return run(folder, INSTALL)


def foreign_python(folder: Path) -> str:
    """Select among settings and modules of other Pythons; then name a program that is none."""
    for name in ("broken/numpy", "broken/glfs_bio", "glfs_bio"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise SystemExit\n")
    other = run(folder, "glfs_install('/bin/sh', renew = TRUE)")
    return f"{run(folder, SELECT, **FOREIGN)} // {other}"


def locales(folder: Path) -> str:
    """Select in a folder with umlauts, which the locale C cannot read."""
    folder /= "Übung"
    folder.mkdir()
    return " // ".join(run(folder, SELECT, LC_ALL=name) for name in ("C", "C.UTF-8"))


#: What each must print.
MADE = "^glfsbio makes its Python environment, once, in .*"
TRIALS = {
    clean: MADE + r"installed // 3 genes // left: \['python-\w{12}'\] [1-6]\d\d MB$",
    no_pip_settings: MADE + "installed$",
    two_at_once: r"^Another R is making .* 3 genes // glfsbio makes .* 3 genes$",
    killed: MADE + r"installed // left: \['python-\w{12}'\]",
    offline: r"No network: .* // left: \[\]",
    untrusted: "does not trust the certificate",
    unwritable: "cannot be written: name another folder as R_USER_CACHE_DIR",
    foreign_python: MADE + "3 genes // .*/bin/sh",
    locales: "LC_ALL.* // " + MADE[1:] + "3 genes$",
}
failed = False
for trial, pattern in TRIALS.items():
    if sys.argv[1:] and trial.__name__ not in sys.argv[1:]:
        continue
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        output = trial(Path(name)).replace(name, "~")
    passed = re.search(pattern, output) is not None
    failed |= not passed
    seconds = time.perf_counter() - begin
    print(f"{trial.__name__}: {'passed' if passed else 'FAILED'} ({seconds:.0f} s): {output[:700]}")
sys.exit(failed)
