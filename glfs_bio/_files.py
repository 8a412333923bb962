"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from . import checks
from .errors import LONGEST_VALUE, FileExists, FileMissing, InvalidType, InvalidValue

if TYPE_CHECKING:
    from collections.abc import Iterator


def as_path(path: str | Path, argument: str = "path") -> Path:
    """Return the path, or say which argument is none.

    Raises
    ------
    TypeError, ValueError
        Not a path, or an empty one.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidType(argument, path, "must be a path")
    if not str(path) or "\0" in str(path):
        raise InvalidValue(argument, str(path), "must be a path, and is empty or has a zero byte")
    return Path(path)


def existing(path: str | Path) -> Path:
    """Return the path of a file that is there to be read.

    Raises
    ------
    FileNotFoundError
        There is none, or it is a folder.
    TypeError, ValueError
        Not a path.
    """
    path = as_path(path)
    if path.is_dir():
        raise FileMissing("path", str(path), "is a folder", "give the path of a file")
    if not path.is_file():
        raise FileMissing("path", str(path), "does not exist", "give the path of a file")
    return path


def reason(error: BaseException) -> str:
    """Return the words of another package's exception, on one line that is not long."""
    return " ".join(str(error).split())[:LONGEST_VALUE]


def check_target(path: str | Path, *, overwrite: bool) -> None:
    """Refuse a file that must not be replaced, or whose folder is missing.

    Parameters
    ----------
    path
        File that will be written.
    overwrite
        Whether one that is there may be replaced.

    Raises
    ------
    FileExistsError, FileNotFoundError
        Naming the file or the folder.
    TypeError, ValueError
        Not a path.

    Examples
    --------
    >>> import tempfile, pathlib, glfs_bio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     glfs_bio.io.check_target(pathlib.Path(folder) / "panel.txt", overwrite=False)
    """
    path = as_path(path)
    checks.flags(overwrite=overwrite)
    if path.exists() and not overwrite:
        raise FileExists(
            "path", str(path), "exists", "choose another name, or pass {arg:overwrite={true}}"
        )
    if not path.parent.is_dir():
        raise FileMissing(
            "path", str(path), "is in a folder that does not exist", "create it first"
        )


@contextmanager
def replacing(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary name beside `path`, which takes its place when the block ends well.

    Parameters
    ----------
    path
        File to write, or folder.
    overwrite
        Whether a file that is there may be replaced.

    Raises
    ------
    FileExistsError
        `path` exists and `overwrite` is not set.
    FileNotFoundError
        The folder does not exist.

    Examples
    --------
    >>> import tempfile, pathlib, glfs_bio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "panel.txt"
    ...     with glfs_bio.io.replacing(path) as name:
    ...         _ = name.write_text("CD3D")
    ...         print(path.exists())
    ...     print(path.read_text())
    False
    CD3D
    """
    path = as_path(path)
    check_target(path, overwrite=overwrite)
    folder = Path(tempfile.mkdtemp(prefix=".glfs-", dir=path.parent))
    try:
        yield folder / path.name
        _swap(folder / path.name, path, folder / "old")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _swap(new: Path, path: Path, aside: Path) -> None:
    """Put `new` in the place of `path`; a folder, which cannot be replaced, steps aside first."""
    if not path.is_dir():
        new.replace(path)
        return
    path.rename(aside)
    try:
        new.replace(path)
    finally:
        if not path.exists():
            aside.rename(path)
