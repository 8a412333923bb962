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

#: What is in a folder of zarr.
_OF_ZARR = (".zgroup", ".zattrs", ".zarray", "zarr.json")
#: How names of temporary folders of this machine begin, before the process and a number.
_TEMPORARY = f".glfs-{re.sub(r'[^a-zA-Z0-9_]', '_', platform.node()) or '_'}-"


def as_path(path: str | Path, argument: str = "path") -> Path:
    """Return the path, or refuse the argument."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidType(f"`{argument}={short(path)}` must be a path")
    if not str(path) or "\0" in str(path):
        raise InvalidValue(f"`{argument}={short(path)}` is empty or has a zero byte: give a path")
    return Path(path)


def existing(path: str | Path) -> Path:
    """Return the path of an existing file."""
    path = as_path(path)
    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "does not exist"
        raise FileMissing(f"`path={short(path)}` {problem}: give the path of a file")
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
    except Exception as error:  # a damaged file has libraries raise anything
        cause, failure = reason(error) or type(error).__name__, f"cannot be read as {kind}"
        remedy = "look whether it is whole, and of this kind"
        if isinstance(error, MemoryError):
            failure, remedy = "needs more memory than there is", "free some"
        elif isinstance(error, UnicodeDecodeError):
            remedy = "save it as UTF-8"
        raise InvalidValue(f"`{argument}={short(path)}` {failure} ({cause}): {remedy}") from error


def check_target(path: str | Path, *, overwrite: bool) -> Path:
    """Return the path of a file that can be written, or refuse it; ``.zarr`` is a folder."""
    path = as_path(path)
    checks.flags(overwrite=overwrite)
    if (path.exists() or path.is_symlink()) and not overwrite:
        text = f"`path={short(path)}` exists: pass `overwrite=True` to replace it"
        raise FileExists(f"{text}, or choose another name")
    is_store = path.suffix.lower() == ".zarr"
    if path.is_dir() and not (is_store and (is_zarr(path) or not any(path.iterdir()))):
        raise FileExists(f"`path={short(path)}` is a folder, which is not replaced: name a file")
    if not path.resolve().parent.is_dir():
        raise FileMissing(f"`path={short(path)}` is in a folder that is not there: create it first")
    return path


@contextmanager
def replacing(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary file, which takes the place of `path` after a block without errors.

    A replaced file keeps its permissions, and a link to a file stays a link.  Temporary files of
    processes that were killed are removed.
    """
    path = check_target(path, overwrite=overwrite)
    final = path.resolve()
    _remove_abandoned(final.parent)
    folder = Path(tempfile.mkdtemp(prefix=f"{_TEMPORARY}{os.getpid()}-", dir=final.parent))
    try:
        yield folder / path.name
        _put(folder / path.name, final, overwrite=overwrite, aside=folder / "old")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_zarr(path: Path) -> bool:
    """Whether a folder is a zarr store, whatever it is called."""
    return any((path / name).exists() for name in _OF_ZARR)


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary folders of processes of this machine that have ended."""
    for temporary in folder.glob(f"{_TEMPORARY}*-*"):
        process = temporary.name.removeprefix(_TEMPORARY).partition("-")[0]
        if process.isdecimal() and not _runs(int(process)):
            shutil.rmtree(temporary, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        if os.name == "posix":  # elsewhere the signal 0 would end it
            os.kill(process, 0)
    except OSError as error:  # one of another user may not be asked
        return not isinstance(error, ProcessLookupError)
    return True


def _put(new: Path, path: Path, *, overwrite: bool, aside: Path) -> None:
    """Put `new` at `path`, which may exist."""
    if not overwrite:
        _put_where_nothing_is(new, path)
    elif path.is_dir():
        path.rename(aside)  # a folder cannot be replaced, and steps aside
        try:
            new.replace(path)
        finally:
            if not path.exists():
                aside.rename(path)
    else:
        if path.exists():
            shutil.copymode(path, new)
        new.replace(path)


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
        raise FileExists(f"`path={short(path)}` was written meanwhile: name another") from None
