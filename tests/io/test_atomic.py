from __future__ import annotations

import pytest
from refusals import refused

from glfs_bio.errors import FileExists
from glfs_bio.io import replacing


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
