"""Files that appear whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def check_target(path: Path, *, overwrite: bool) -> None:
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

    Examples
    --------
    >>> import tempfile, pathlib, glfs_bio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     glfs_bio.io.check_target(pathlib.Path(folder) / "panel.txt", overwrite=False)
    """
    if path.exists() and not overwrite:
        msg = f"{path} exists: choose another name, or allow it to be overwritten."
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
        File to write.
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
    path = Path(path)
    check_target(path, overwrite=overwrite)
    folder = Path(tempfile.mkdtemp(prefix=".glfs-", dir=path.parent))
    try:
        yield folder / path.name
        (folder / path.name).replace(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
