"""The Python environment that R makes, in processes of their own without GLFSBIO_PYTHON."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

#: Settings of other Pythons and of pip, none of which may reach the environment.
FOREIGN = {
    **{"PYTHONPATH": "broken", "PYTHONHOME": "/nowhere", "PYTHONWARNINGS": "error"},
    **{"PIP_USER": "1", "PIP_TARGET": "/nowhere", "PIP_PREFIX": "/nowhere"},
    **{"PIP_CONSTRAINT": "/nowhere", "PIP_NO_BINARY": ":all:", "VIRTUAL_ENV": "/nowhere"},
}
OFFLINE = {
    **{"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "0"},
    **{"PIP_CONFIG_FILE": os.devnull, "PIP_EXTRA_INDEX_URL": "", "PIP_FIND_LINKS": ""},
}


@pytest.fixture
def home(tmp_path) -> Path:
    """A cache, and a working directory whose modules cannot be imported."""
    for name in ("broken/numpy", "broken/glfs_bio", "glfs_bio"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "__init__.py").write_text("raise SystemExit\n")
    return tmp_path / "cache" / "R" / "glfsbio"


@pytest.fixture
def user(rscript, home, tmp_path):
    """Start R as somebody does who has set nothing but this."""

    def start(code: str, *arguments: str, **settings: str):
        ours = ("GLFSBIO_", "PYTHON", "RETICULATE_")
        env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        library = Path(sys.prefix) / "r" / "library"
        env = {"R_LIBS": str(library), **env, "R_USER_CACHE_DIR": str(tmp_path / "cache")}
        return rscript(code, *arguments, env=env | settings, stdin=-1)

    return start


def said(process, text: str | None = None) -> str:
    """Wait for its end; what it printed."""
    out, err = process.communicate(text, timeout=1200)
    return out + err


def until(found, process) -> None:
    while not found():
        assert process.poll() is None, said(process)
        time.sleep(0.05)


def test_an_environment_is_made_once_and_never_harmed(user, home, tmp_path):
    """Killed, damaged, made again beside another R in another locale, used, and moved meanwhile."""
    killed = user("cat(glfsbio:::environment_folder(), '\n'); glfs_install()")
    folder = Path(killed.stdout.readline().strip())
    until(lambda: list(home.glob("new-*/bin")), killed)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert list(home.glob("lock-*/*"))
    remains = {*home.glob("new-*")}
    folder.mkdir()
    (folder / "complete").write_text("9 lib/gone.py\n")

    use = "x <- glfs_select_genes(glfs_example(), 3); cat(sum(rowData(x)$glfs_selected), 'genes\n')"
    first = user(
        f"""{use}; cat("ready\n"); readLines(file("stdin"), 1)
        {use}; glfs_write_order(glfs_order_panel(x), "order.xlsx"); cat("written\n")""",
        LC_ALL="C",
        **FOREIGN,
    )
    until(lambda: {*home.glob("new-*/bin")} - {one / "bin" for one in remains}, first)
    # What is there is enough for the second, which has no network.
    second = user(f"cat(glfs_install()); {use}", LC_ALL="C.UTF-8", **OFFLINE, **FOREIGN)
    other = said(second)
    assert "waiting for it" in other
    assert "makes its Python environment" not in other
    assert str(folder) in other
    assert "3 genes" in other
    assert (folder / "complete").stat().st_size > 1000
    used = sum(one.lstat().st_blocks * 512 for one in folder.rglob("*")) / 2**20
    assert used <= 500
    assert not list(folder.glob("**/site-packages/scanpy"))
    scripts = [one for one in (folder / "bin").iterdir() if not one.is_symlink()]
    assert not any(b"new-" in one.read_bytes() for one in scripts)

    # A session goes on whatever others do: as `move_in` does when another session repairs it.
    while "ready" not in (line := first.stdout.readline()):
        assert line, said(first)
    assert list(home.iterdir()) == [folder]
    new, old = folder.with_name("new"), folder.with_name("old")
    shutil.copytree(folder, new, symlinks=True, copy_function=os.link)
    folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old)
    end = said(first, "\n")
    assert "written" in end, end
    assert "makes its Python environment" in end
    assert "is damaged" in end
    assert "lib/gone.py" in end


#: In one R: nothing of this starts Python in it.  Arguments: a Python that R cannot load, a file.
REFUSED = """
    bad <- commandArgs(TRUE)[1]; file <- commandArgs(TRUE)[2]
    lock <- file.path(glfsbio:::cache(), paste0("lock-", glfsbio:::fingerprint()))
    token <- file.path(lock, "elsewhere~1~file")  # its age alone tells whether it is at work
    dir.create(lock, recursive = TRUE); file.create(token)
    said <- function(...) cat(tryCatch(suppressMessages(glfs_install(...)),
        glfs_error = conditionMessage), "\n\f")
    said(wait = 0)
    Sys.setFileTime(token, Sys.time() - 3600)
    Sys.setenv(PATH = paste0(dirname(bad), ":", Sys.getenv("PATH")))
    said()
    said(bad)
    cat(list.files(glfsbio:::cache()), "\f")
    Sys.setenv(R_USER_CACHE_DIR = file)
    said()
"""


def test_what_is_refused_says_why_and_leaves_nothing(user, tmp_path):
    """A lock that is held, or was long ago; no network; a Python that R cannot load; a cache."""
    bad = tmp_path / "commands" / "python3"
    real = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
    bad.parent.mkdir()
    (bad.parent / real.name).symlink_to(real)
    bad.write_text(f"""#!/bin/sh
'{real}' "$@" || exit 1
for folder; do :; done
for site in "$folder"/lib/python*/site-packages; do
    if [ -d "$site" ]; then echo 'import sys; sys.exit("will not load")' >"$site/bad.pth"; fi
done
""")
    bad.chmod(0o755)
    (tmp_path / "file").touch()
    found = said(user(REFUSED, str(bad), str(tmp_path / "file"), **OFFLINE)).split("\f")
    held, offline, unloaded, left, unwritable, _ = found
    assert "process 1 on elsewhere" in held
    assert "options(glfsbio.wait = )" in held
    assert "No network" in offline  # to which the next Python came, which R can load
    assert "PIP_INDEX_URL" in offline
    assert "glfs_setup()" in offline
    assert str(bad) in unloaded
    assert "cannot be used from this R" in unloaded
    assert "glfs_install(python = )" in unloaded
    assert not left.strip()
    assert "cannot be written" in unwritable
    assert "R_USER_CACHE_DIR" in unwritable
