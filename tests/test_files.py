"""Files appear whole or not at all, and what is not to be replaced stays."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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


KILLED = """
import os, signal
from pathlib import Path
from glfs_bio._files import replacing
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with replacing("cells.zarr", overwrite=True) as name:
    name.mkdir()
"""


@posix
def test_what_the_dead_left_behind(tmp_path):
    """What stepped aside is back, and the rest is gone; folders of others and the living stay."""
    store(tmp_path / "cells.zarr")
    subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, check=False)
    (left,) = names(tmp_path)
    folder, link, file = (tmp_path / f".glfs-temporary-{name}" for name in ("a", "9" * 99, "b"))
    folder.mkdir()
    link.symlink_to(tmp_path)
    file.write_text("")
    with replacing(tmp_path / "late.txt") as late:
        late.write_text("late")
        for _ in range(2):
            with replacing(tmp_path / "a.txt", overwrite=True) as name:
                name.write_text("whole")
        others = {folder.name, link.name, file.name, late.parent.name}
        assert names(tmp_path) == {"a.txt", "cells.zarr", *others} - {left}
    assert (tmp_path / "late.txt").read_text() == "late"
    assert names(tmp_path / "cells.zarr") == {".zgroup", "old"}


def test_what_threads_write_late_goes_too(tmp_path, monkeypatch):
    """As those of zarr do after Ctrl-C, to the end of an array."""
    parts = iter(range(3))

    def fail():
        with replacing(tmp_path / "cells.zarr") as name:

            def write_while_others_wait(_):
                if next(parts, None) is not None:
                    name.mkdir(parents=True)

            monkeypatch.setattr(time, "sleep", write_while_others_wait)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert not names(tmp_path)


@posix
def test_remedies_that_help(panel, tmp_path):
    """No `overwrite` where nothing would be overwritten, and no folder is taken for a file."""
    (tmp_path / "folder.txt").mkdir()
    os.mkfifo(tmp_path / "fifo.txt")
    for path in ("folder.txt", "fifo.txt", "new.txt/"):
        with refused(FileExists, "path") as caught:
            io.write_genes(panel, f"{tmp_path}/{path}")
        assert "overwrite" not in str(caught.value)
    assert names(tmp_path) == {"folder.txt", "fifo.txt"}


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="this system has no /proc")
def test_a_folder_that_takes_no_files(panel):
    with refused(FileRefused, "path") as caught:
        io.write_genes(panel, "/proc/panel.txt")
    assert "temporary" not in str(caught.value)
