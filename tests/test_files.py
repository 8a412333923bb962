"""Files appear whole or not at all, and what is not to be replaced stays."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from refusals import refused

from glfs_bio import io, pp
from glfs_bio._files import replacing
from glfs_bio.errors import FileExists, FileRefused

posix = pytest.mark.skipif(os.name != "posix", reason="this system has no such thing")


@pytest.fixture
def panel(pbmc):
    pp.select_genes(pbmc, 5)
    return pbmc


def names(folder):
    return {path.name for path in folder.iterdir()}


def store(path):
    """A zarr store that holds a file."""
    path.mkdir()
    (path / ".zgroup").write_text("{}")
    (path / "old").write_text("old")
    return path


def test_a_file_appears_whole(tmp_path):
    path = tmp_path / "out.txt"
    with replacing(path) as name:
        name.write_text("old")
        assert not path.exists()
    with refused(FileExists, "path"), replacing(path):
        pass

    def fail():
        with replacing(path, overwrite=True) as name:
            name.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert names(tmp_path) == {"out.txt"}


def test_a_store_is_replaced_as_a_whole(tmp_path):
    path = store(tmp_path / "cells.zarr")
    with refused(FileRefused, "path"), replacing(path, overwrite=True):
        pass  # nothing is written, and the old one comes back
    assert names(path) == {".zgroup", "old"}
    with replacing(path, overwrite=True) as name:
        name.mkdir()
        (name / "new").write_text("new")
        assert (path / "old").exists()
    assert names(path) == {"new"}
    assert names(tmp_path) == {"cells.zarr"}


def test_one_of_many_creates_a_file(tmp_path):
    def write(number):
        try:
            with replacing(tmp_path / "panel.txt") as name:
                name.write_text(str(number))
        except FileExists:
            return None
        return number

    with ThreadPoolExecutor(8) as pool:
        wrote = [number for number in pool.map(write, range(16)) if number is not None]
    assert [(tmp_path / "panel.txt").read_text()] == [str(number) for number in wrote]
    assert names(tmp_path) == {"panel.txt"}


def test_a_file_that_comes_meanwhile_stays(tmp_path):
    path = tmp_path / "panel.txt"
    with refused(FileExists, "path"), replacing(path) as name:
        name.write_text("late")
        path.write_text("early")
    assert path.read_text() == "early"


def test_what_cannot_be_written_is_refused_by_the_name_that_was_asked_for(tmp_path, monkeypatch):
    """Before any work, or where the disk is full."""
    path = tmp_path / "panel.txt"
    with refused(FileRefused, "path") as caught, replacing(path) as name:
        raise OSError(28, "No space left on device", str(name))
    assert "temporary" not in str(caught.value)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with refused(FileRefused, "path"):
        io.write_genes(None, path)
    assert not names(tmp_path)


@posix
def test_permissions_stay(panel, tmp_path):
    path = tmp_path / "panel.txt"
    path.write_text("secret")
    path.chmod(0o600)
    io.write_genes(panel, path, overwrite=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_links_stay_and_are_followed(panel, tmp_path):
    file, link, dangling = (tmp_path / f"{name}.txt" for name in ("file", "link", "dangling"))
    file.write_text("old")
    link.symlink_to(file)
    io.write_genes(panel, link, overwrite=True)
    assert link.is_symlink()
    assert len(file.read_text().split()) == 5
    dangling.symlink_to(tmp_path / "nothing.txt")
    with refused(FileExists, "path"):
        io.write_genes(panel, dangling)
    io.write_genes(panel, dangling, overwrite=True)
    assert (tmp_path / "nothing.txt").is_file()


@posix
def test_what_the_dead_left_behind(tmp_path):
    """What stepped aside is back after a minute, the rest goes after a day; others' names stay."""
    store(tmp_path / "cells.zarr")
    code = """
import os, signal
from pathlib import Path
from glfs_bio._files import replacing
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with replacing("cells.zarr", overwrite=True) as name:
    name.mkdir()
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    (left,) = tmp_path.iterdir()
    endings = ("live", "9" * 99, "file")
    others = [tmp_path / f".glfs-temporary-{ending}" for ending in endings]
    others[0].mkdir()
    (others[0] / "x").write_text("of another container")
    others[1].symlink_to(tmp_path)
    others[2].write_text("")
    for age, remain in (
        (0, {left.name}),
        (10**4, {left.name, "cells.zarr"}),
        (10**6, {"cells.zarr"}),
    ):
        for path in (left, *others[1:]) if left.exists() else ():
            os.utime(path, (time.time() - age,) * 2, follow_symlinks=False)
        with replacing(tmp_path / "a.txt", overwrite=True) as name:
            name.write_text("whole")
        assert names(tmp_path) == {"a.txt", *remain, *(path.name for path in others)}
    assert names(tmp_path / "cells.zarr") == {".zgroup", "old"}
