"""Trials of the Python environment that the R package makes: what R printed, and what was left.

    python -m benchmarks.r_install [--before LIBRARY]

Needs R and the package, as `make test` installs them or R_LIBS says, and a network; LIBRARY has an
earlier version of it.  Every trial is R in processes of their own, without GLFSBIO_PYTHON.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from . import tables

FOREIGN = {
    **{"PYTHONPATH": "broken", "PYTHONHOME": "/nowhere"},
    **{"PIP_USER": "1", "PIP_TARGET": "/nowhere"},
}
OFFLINE = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "0"}
SELECT = (
    "cells <- glfs_example(); x <- glfs_select_genes(cells, n_genes = 3); "
    "cat(sum(rowData(x)$glfs_selected), 'genes selected\\n')"
)
LONGEST = 170


@dataclass
class User:
    """Somebody with a cache and a library of R."""

    folder: Path
    library: str | None

    @property
    def cache(self) -> Path:
        return self.folder / "cache" / "R" / "glfsbio"

    @property
    def environments(self) -> list[Path]:
        return [path.parent for path in self.cache.glob("*/complete")]

    def start(self, code: str, **settings: str) -> subprocess.Popen[str]:
        """Start R on code, with these settings and a cache of one's own."""
        ours = ("GLFSBIO_", "PYTHON", "RETICULATE_")
        env = {name: one for name, one in os.environ.items() if not name.startswith(ours)}
        env.setdefault("R_LIBS", str(Path(sys.prefix) / "r" / "library"))
        if self.library is not None:
            env["R_LIBS"] = self.library
        env |= {"R_USER_CACHE_DIR": str(self.folder / "cache")} | settings
        return subprocess.Popen(
            ["Rscript", "-e", f"suppressMessages(library(glfsbio)); {code}"],
            env=env,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, code: str, **settings: str) -> str:
        return end(self.start(code, **settings), self.folder)


def end(process: subprocess.Popen[str], folder: Path, text: str | None = None) -> str:
    """Wait for a process; return the lines of what it printed that say something."""
    said = process.communicate(text)[0].replace(str(folder), "~")
    said = re.sub(r"(?<![~\w])/\S*/(python[\d.]*)(?=\W)", r"\1", said)
    lines = [line for line in said.splitlines() if line.strip()]
    noise = ("WARNING: Location", "Calls:", "Execution halted")
    kept = [line.removeprefix("Error: ").strip() for line in lines if not line.startswith(noise)]
    text = " ".join(line for line in kept if line)
    return text if len(text) <= LONGEST * 2 else f"{text[:LONGEST]} … {text[-LONGEST:]}"


def two_at_once(user: User) -> str:
    """Two first uses in two locales, with settings of other Pythons; the second in mid-making."""
    processes = [user.start(SELECT, LC_ALL=locale, **FOREIGN) for locale in ("C", "C.UTF-8")]
    return " // ".join(end(process, user.folder) for process in processes)


def without_settings(user: User) -> str:
    """Make it where the trial before has failed, so that there is one."""
    return user.run(SELECT, LC_ALL="C.UTF-8")


def other_locale(user: User) -> str:
    """While a session runs another one starts in another locale, without a network."""
    running = user.start(
        f"glfs_setup(); cat('ready\\n'); invisible(readLines(file('stdin'), 1)); {SELECT}",
        LC_ALL="C.UTF-8",
    )
    for line in running.stdout or ():
        if line.startswith(("ready", "Error")):
            break
    other = user.run("glfs_setup()", LC_ALL="C", **OFFLINE)
    there = "the environment is there" if user.environments else "no environment is left"
    return f"{other} // the first: {end(running, user.folder, chr(10))} // {there}"


def partly_deleted(user: User) -> str:
    if not user.environments:
        user.run("glfs_install()")
    for folder in user.cache.glob("*/lib/python*/site-packages/scipy"):
        shutil.rmtree(folder)
    return f"{user.run('glfs_install()')} // {user.run(SELECT)}"


def killed(user: User) -> str:
    """R is killed while it makes the environment; then somebody else has no network."""
    first = user.start("glfs_install()")
    while not [*user.cache.glob("*lock*"), *user.cache.glob("*/pyvenv.cfg")]:
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    return user.run("glfs_install()", **OFFLINE)


def offline(user: User) -> str:
    return user.run("glfs_install()", **OFFLINE)


def unwritable(user: User) -> str:
    (user.folder / "file").touch()
    return user.run("glfs_install()", R_USER_CACHE_DIR=str(user.folder / "file"))


def not_loaded(user: User) -> str:
    """A Python of which this R's reticulate knows nothing, if there is one."""
    found = newer_python()
    if found is None:
        return "no such Python here"
    said = user.run(f"glfs_install('{found}')")
    return f"{said} // complete: {'yes' if user.environments else 'no'}"


def newer_python() -> Path | None:
    """Return a Python of 3.12 or newer that has what venv needs."""
    places = [Path(one) for one in os.environ["PATH"].split(":")]
    places += sorted((Path.home() / ".pyenv" / "versions").glob("3.1[2-9]*/bin"))
    for path in (place / f"python3.{k}" for k in (12, 13, 14) for place in places):
        command = [path, "-c", "import ensurepip"]
        if path.exists() and not subprocess.run(command, capture_output=True).returncode:
            return path
    return None


#: Trials that go on with one cache, in this order, and those with a cache of their own.
TOGETHER = {
    "two first uses at once, in two locales, PYTHONPATH, PYTHONHOME, PIP_USER and PIP_TARGET set": (
        two_at_once
    ),
    "another locale, offline, while a session runs": other_locale,
    "scipy deleted from it; glfs_install(), then a selection": partly_deleted,
}
ALONE = {
    "killed while making it; the next one": killed,
    "no network": offline,
    "a cache that cannot be written": unwritable,
    "glfs_install(python = ) with Python 3.12": not_loaded,
}


def trials(library: str | None) -> tuple[dict[str, str], dict[str, str]]:
    """Return what was said in each trial, and the measures of the environment."""
    said, measures = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        user = User(Path(folder), library)
        (user.folder / "broken" / "numpy").mkdir(parents=True)
        (user.folder / "broken" / "numpy" / "__init__.py").write_text("raise ImportError('broken')")
        for name, trial in TOGETHER.items():
            begun = time.perf_counter()
            said[name] = trial(user)
            if trial is two_at_once and not user.environments:
                begun = time.perf_counter()
                without_settings(user)
            if trial is two_at_once:
                measures["time of making it (s)"] = f"{time.perf_counter() - begun:.0f}"
                size = subprocess.check_output(["du", "-sm", *user.environments], text=True)
                measures["size (MB, du -sm)"] = size.split()[0]
            tables.say(f"{name}: {said[name]}")
    for name, trial in ALONE.items():
        with tempfile.TemporaryDirectory() as folder:
            said[name] = trial(User(Path(folder), library))
        tables.say(f"{name}: {said[name]}")
    return said, measures


def main() -> None:
    """Run the trials, write."""
    parser = tables.parser(__doc__)
    parser.add_argument("--before", help="library of R with an earlier version of glfsbio")
    given = parser.parse_args()
    libraries = {"before": str(Path(given.before).resolve())} if given.before else {}
    found = {name: trials(library) for name, library in {**libraries, "now": None}.items()}
    said = pd.DataFrame({name: one[0] for name, one in found.items()})
    measures = pd.DataFrame({name: one[1] for name, one in found.items()})
    tables.write(
        "r_install",
        said.rename_axis("trial"),
        tables.section("The environment", measures),
    )


if __name__ == "__main__":
    main()
