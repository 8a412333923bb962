"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from . import checks
from .errors import (
    LONGEST_VALUE,
    FileExists,
    FileMissing,
    InvalidType,
    InvalidValue,
    Refusal,
    short,
    subject,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Ending of what is written as a folder, and what is in such a folder.
_FOLDERS = ".zarr"
_OF_ZARR = (".zgroup", ".zattrs", ".zarray", "zarr.json")
#: Names of temporary folders: this, the machine, the process, and a number.
_TEMPORARY = ".glfs-"


def as_path(path: str | Path, argument: str = "path") -> Path:
    """Return the path, or refuse the argument."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidType(f"`{argument}={short(path)}` must be a path")
    if not str(path) or "\0" in str(path):
        raise InvalidValue(
            f"`{argument}={short(path)}` must be a path, and is empty or has a zero byte"
        )
    return Path(path)


def existing(path: str | Path) -> Path:
    """Return the path of an existing file."""
    path = as_path(path)
    if path.is_dir():
        raise FileMissing(f"`path={short(path)}` is a folder: give the path of a file")
    if not path.is_file():
        raise FileMissing(f"`path={short(path)}` does not exist: give the path of a file")
    return path


def reason(error: BaseException) -> str:
    """Return the words of another package's exception, on one line that is not long."""
    return " ".join(str(error).split())[:LONGEST_VALUE]


def bad_file(path: object, text: str) -> InvalidValue:
    """Return the refusal of a file, or of a table, which has no path."""
    return InvalidValue(f"{subject('path', path)} {text}")


@contextmanager
def reading(path: str | Path, kind: str, argument: str = "path") -> Iterator[None]:
    """Refuse a file of a `kind`, whatever a library raises that cannot read it."""
    try:
        yield
    except Refusal:
        raise
    except MemoryError as error:
        raise InvalidValue(
            f"`{argument}={short(path)}` asks for more memory than there is "
            f"({reason(error) or 'no room'}): free some, or look whether the file is whole"
        ) from error
    except Exception as error:  # a damaged file has libraries raise anything
        is_text = isinstance(error, UnicodeDecodeError)
        raise InvalidValue(
            f"`{argument}={short(path)}` cannot be read as {kind} "
            f"({reason(error) or type(error).__name__}): "
            f"{'save it as UTF-8' if is_text else 'look whether it is whole, and of this kind'}"
        ) from error


def check_target(path: str | Path, *, overwrite: bool) -> None:
    """Refuse a file that cannot be written, before any work; ``.zarr`` is a folder."""
    path = as_path(path)
    checks.flags(overwrite=overwrite)
    if path.is_symlink() and not path.exists() and not overwrite:
        raise FileExists(
            f"`path={short(path)}` is a link to a file that does not exist: choose another name"
        )
    if path.exists() and not overwrite:
        raise FileExists(
            f"`path={short(path)}` exists: pass `overwrite=True` to replace it, or choose "
            "another name"
        )
    is_old = path.is_dir() and (is_zarr(path) or not any(path.iterdir()))
    if path.is_dir() and not (path.suffix.lower() == _FOLDERS and is_old):
        raise FileExists(f"`path={short(path)}` is a folder, which is not replaced: name a file")
    if not path.resolve().parent.is_dir():
        raise FileMissing(
            f"`path={short(path)}` is in a folder that does not exist: create it first"
        )


@contextmanager
def replacing(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Write a file completely or not at all, through a temporary file next to it.

    The temporary file takes the name of `path` at the end of a block without errors.  A replaced
    file keeps its permissions, and a link to a file stays a link.  Temporary files of processes
    that were killed are removed; ``.zarr`` is a folder.
    """
    path = as_path(path)
    check_target(path, overwrite=overwrite)
    final = path.resolve()
    _remove_abandoned(final.parent)
    mine = f"{_TEMPORARY}{_machine()}-{os.getpid()}-"
    folder = Path(tempfile.mkdtemp(prefix=mine, dir=final.parent))
    try:
        yield folder / path.name
        _put(folder / path.name, final, overwrite=overwrite, aside=folder / "old")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_zarr(path: Path) -> bool:
    """Whether a folder is a zarr store, whatever it is called."""
    return any((path / name).exists() for name in _OF_ZARR)


def _machine() -> str:
    """The machine, as part of a name."""
    return re.sub(r"\W", "_", platform.node()) or "_"


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary folders of processes of this machine that have ended."""
    for temporary in folder.glob(f"{_TEMPORARY}{_machine()}-*-*"):
        process = temporary.name.removeprefix(f"{_TEMPORARY}{_machine()}-").partition("-")[0]
        if process.isdecimal() and not _runs(int(process)):
            shutil.rmtree(temporary, ignore_errors=True)


def _runs(process: int) -> bool:
    if os.name != "posix":  # elsewhere the signal 0 would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        return True
    return True


def _put(new: Path, path: Path, *, overwrite: bool, aside: Path) -> None:
    """Put `new` at `path`, which may exist."""
    if not overwrite:
        _put_where_nothing_is(new, path)
        return
    if not path.is_dir():
        if path.exists():
            shutil.copymode(path, new)
        new.replace(path)
        return
    path.rename(aside)  # a folder cannot be replaced, and steps aside
    try:
        new.replace(path)
    finally:
        if not path.exists():
            aside.rename(path)


def _put_where_nothing_is(new: Path, path: Path) -> None:
    """Put `new` at `path`, or refuse it if another process or thread was faster."""
    try:
        if new.is_dir():
            if os.name == "posix":
                path.mkdir()  # an empty folder can be replaced, and elsewhere none can
            new.rename(path)
            return
        try:
            os.link(new, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            path.touch(exist_ok=False)
            new.replace(path)
    except FileExistsError:
        raise FileExists(
            f"`path={short(path)}` was written meanwhile: choose another name"
        ) from None
