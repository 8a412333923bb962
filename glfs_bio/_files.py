"""Files that appear whole or not at all."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from . import checks

if TYPE_CHECKING:
    from collections.abc import Iterator


#: AT_FDCWD and RENAME_EXCHANGE of renameat2(2).
_HERE, _EXCHANGE = -100, 2


def as_path(path: str | Path, argument: str = "path") -> Path:
    """Return the path, or say which argument is none.

    Raises
    ------
    TypeError, ValueError
        Not a path, or an empty one.
    """
    if not isinstance(path, str | os.PathLike):
        msg = f"{argument}={path!r} must be a path, not {type(path).__name__}."
        raise TypeError(msg)
    if not str(path) or "\0" in str(path):
        msg = f"{argument}={str(path)!r} must be a path: it is empty, or has a zero byte."
        raise ValueError(msg)
    return Path(path)


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
        msg = f"{path} exists: choose another name, or pass overwrite=True."
        raise FileExistsError(msg)
    if not path.parent.is_dir():
        msg = f"The folder {path.parent} does not exist: create it first."
        raise FileNotFoundError(msg)


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


def _exchanged(one: Path, other: Path) -> bool:
    """Let two folders change places in one step, so that neither is ever missing; Linux can."""
    if sys.platform != "linux":
        return False
    exchange = getattr(ctypes.CDLL(None), "renameat2", None)
    paths = _HERE, os.fsencode(one), _HERE, os.fsencode(other)
    return exchange is not None and exchange(*paths, _EXCHANGE) == 0


def _swap(new: Path, path: Path, aside: Path) -> None:
    """Put `new` in the place of `path`; a folder, which cannot be replaced, steps aside first."""
    if not path.is_dir():
        new.replace(path)
        return
    if _exchanged(new, path):
        return
    path.rename(aside)
    try:
        new.replace(path)
    finally:
        if not path.exists():
            aside.rename(path)
