"""Files appear whole or not at all, and what is not to be replaced stays."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from refusals import refused

from glfs_bio import io, pp
from glfs_bio.errors import FileExists
from glfs_bio.io import replacing

posix = pytest.mark.skipif(os.name != "posix", reason="this system has no such thing")


@pytest.fixture
def panel(pbmc):
    pp.select_genes(pbmc, 5)
    return pbmc


def test_file_appears_whole(tmp_path):
    with replacing(tmp_path / "out.txt") as name:
        name.write_text("done")
        assert not (tmp_path / "out.txt").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def fail():
        with replacing(path, overwrite=True) as name:
            name.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]


def test_no_silent_overwriting(tmp_path):
    (tmp_path / "out.txt").write_text("old")
    with refused(FileExists, "path"), replacing(tmp_path / "out.txt"):
        pass


def test_a_folder_is_never_replaced_by_a_file(panel, tmp_path):
    folder = tmp_path / "panel.csv"
    folder.mkdir()
    (folder / "work.txt").write_text("years")
    with refused(FileExists, "path"):
        io.write_gene_list(panel, folder, overwrite=True)
    store = tmp_path / "results.zarr"
    store.mkdir()
    (store / "work.txt").write_text("years")
    with refused(FileExists, "path"), replacing(store, overwrite=True):
        pass
    assert (folder / "work.txt").read_text() == (store / "work.txt").read_text() == "years"


def test_one_of_many_creates_a_file(panel, tmp_path):
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
    assert [path.name for path in tmp_path.iterdir()] == ["panel.txt"]


def test_a_file_that_comes_meanwhile_stays(tmp_path):
    path = tmp_path / "panel.txt"
    with refused(FileExists, "path"), replacing(path) as name:
        name.write_text("late")
        path.write_text("early")
    assert path.read_text() == "early"


@posix
def test_permissions_stay(panel, tmp_path):
    path = tmp_path / "panel.txt"
    path.write_text("secret")
    path.chmod(0o600)
    io.write_gene_list(panel, path, overwrite=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_links_stay_and_are_followed(panel, tmp_path):
    (tmp_path / "data").mkdir()
    file, link = tmp_path / "data" / "panel.txt", tmp_path / "link.txt"
    file.write_text("old")
    link.symlink_to(file)
    io.write_gene_list(panel, link, overwrite=True)
    assert link.is_symlink()
    assert len(file.read_text().split()) == 5
    dangling = tmp_path / "dangling.txt"
    dangling.symlink_to(tmp_path / "data" / "nothing.txt")
    with refused(FileExists, "path"):
        io.write_gene_list(panel, dangling)
    io.write_gene_list(panel, dangling, overwrite=True)
    assert (tmp_path / "data" / "nothing.txt").is_file()


@posix
def test_what_the_dead_left_behind_is_removed(tmp_path):
    code = f"""
import os, signal
from glfs_bio import io
with io.replacing({str(tmp_path / "a.txt")!r}) as name:
    name.write_text("half")
    os.kill(os.getpid(), signal.SIGTERM)
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    left = list(tmp_path.glob(".glfs-*"))
    assert len(left) == 1
    here = left[0].name.removeprefix(".glfs-").rsplit("-", 2)[0]
    (tmp_path / f".glfs-{here}-{os.getpid()}-living").mkdir()
    (tmp_path / ".glfs-elsewhere-1-other").mkdir()
    with io.replacing(tmp_path / "a.txt") as name:
        name.write_text("whole")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"a.txt", f".glfs-{here}-{os.getpid()}-living", ".glfs-elsewhere-1-other"}
    assert platform.node()[:1] == here[:1]
