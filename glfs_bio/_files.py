"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from . import checks
from .errors import (
    LONGEST_VALUE,
    FileExists,
    FileMissing,
    FileRefused,
    InvalidType,
    InvalidValue,
    Refusal,
    short,
    subject,
)

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows, where what the dead left stays
    flock = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What is in a folder of zarr.
_OF_ZARR = (".zgroup", ".zattrs", ".zarray", "zarr.json")
#: How names of temporary folders begin, where in them what is replaced steps aside, and what is
#: locked as long as somebody works there.
_TEMPORARY, _ASIDE, _LOCK = ".glfs-temporary-", "old", "lock"
#: How often a folder is removed to which threads still write, and seconds between.
_TRIES, _PAUSE = 1000, 0.05


def as_path(path: str | Path, argument: str = "path") -> Path:
    """Return the path, or refuse the argument."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidType(f"`{argument}={short(path)}` must be a path")
    if not str(path) or "\0" in str(path):
        raise InvalidValue(f"`{argument}={short(path)}` is empty or has a zero byte: give a path")
    if re.match(r"\w\w+:/", str(path)):
        raise FileMissing(f"`{argument}={short(path)}` is an address, no file: download it first")
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
        elif re.search("filter|plugin", cause):
            remedy = "install hdf5plugin, and import it first"
        raise InvalidValue(f"`{argument}={short(path)}` {failure} ({cause}): {remedy}") from error


def check_target(path: str | Path, *, overwrite: bool) -> Path:
    """Return the path of a file that can be written, or refuse it; ``.zarr`` is a folder."""
    name = f"`path={short(path)}`"
    checks.flags(overwrite=overwrite)
    names_folder = str(path).endswith(("/", os.sep))
    path = as_path(path)
    try:
        folder, is_there = path.resolve().parent, path.exists() or path.is_symlink()
    except (OSError, RuntimeError) as error:  # too long a name, a folder of others, links in a ring
        raise FileRefused(f"{name} cannot be written ({reason(error)}): name another") from None
    is_store = path.is_dir() and path.suffix.lower() == ".zarr"
    is_file = path.is_file() or (is_store and (is_zarr(path) or not any(path.iterdir())))
    if names_folder or (path.exists() and not is_file):
        raise FileExists(f"{name} is a folder or a device, which is not replaced: name a file")
    if is_there and not overwrite:
        raise FileExists(f"{name} exists: pass `overwrite=True`, or choose another name")
    if not folder.is_dir():
        raise FileMissing(f"{name} is in a folder that is not there: create it first")
    if not os.access(folder, os.W_OK):
        raise FileRefused(f"{name} is in a folder that cannot be written: choose another")
    return path


@contextmanager
def replacing(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary file, which takes the place of `path` after a block without errors.

    A replaced file keeps its permissions, and a link to a file stays a link.  What killed processes
    had put aside comes back, and their files go.
    """
    path = check_target(path, overwrite=overwrite)
    final = path.resolve()
    _remove_abandoned(final.parent)
    try:
        with _temporary_folder(final.parent) as folder:
            yield folder / path.name
            aside = folder / _ASIDE / final.name
            _put(folder / path.name, final, overwrite=overwrite, aside=aside)
    except Refusal:
        raise
    except (OSError, RuntimeError) as error:  # HDF5 raises either where the disk fills up
        why = getattr(error, "strerror", None) or reason(error)  # without the temporary's name
        text = f"`path={short(path)}` cannot be written ({why})"
        raise FileRefused(f"{text}: make room, or name another") from error


def is_zarr(path: Path) -> bool:
    """Whether a folder is a zarr store, whatever it is called."""
    return any((path / name).exists() for name in _OF_ZARR)


@contextmanager
def _temporary_folder(parent: Path) -> Iterator[Path]:
    """Yield a folder that is locked for the time of a block, and goes with it."""
    folder = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=parent))
    try:
        with (folder / "unlocked").open("w") as lock:
            if flock is not None:
                with suppress(OSError):  # a file system without locks, where nobody cleans up
                    flock(lock, LOCK_EX)
                (folder / "unlocked").rename(folder / _LOCK)
            yield folder
    except BaseException:
        for _ in range(_TRIES):  # after Ctrl-C, threads of zarr write to the end of an array
            shutil.rmtree(folder, ignore_errors=True)
            time.sleep(_PAUSE)
            if not folder.exists():
                break
        raise
    shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(folder: Path) -> None:
    """Put back what stepped aside for writers that were killed, and remove their folders."""
    for temporary in folder.glob(f"{_TEMPORARY}*") if flock is not None else ():
        if temporary.is_symlink():
            continue
        with suppress(OSError), (temporary / _LOCK).open("r+") as lock:  # of another user, or gone
            flock(lock, LOCK_EX | LOCK_NB)  # fails where somebody works
            for old in temporary.glob(f"{_ASIDE}/*"):
                if not (folder / old.name).exists():
                    old.rename(folder / old.name)
            shutil.rmtree(temporary, ignore_errors=True)


def _put(new: Path, path: Path, *, overwrite: bool, aside: Path) -> None:
    """Put `new` at `path`, which may exist."""
    if not overwrite:
        _put_where_nothing_is(new, path)
    elif path.is_dir() or (path.exists() and new.is_dir()):
        aside.parent.mkdir()
        path.rename(aside)  # what a folder is or replaces steps aside
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
