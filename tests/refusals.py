"""What tests ask of a refusal: its kind and its argument, not its sentence."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from glfs_bio.errors import Caution, InvalidType, InvalidValue, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: Longer messages are not read.
LONGEST = 1_000
#: What is wrong with a value often says what would be right; what is missing never does.
_WRONG = (InvalidValue, InvalidType)


@contextmanager
def refused(kind: type[Refusal], argument: str) -> Iterator[pytest.ExceptionInfo[Refusal]]:
    """Pass where the block is refused for an argument, by a refusal of a kind."""
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.argument == argument, str(caught.value)


def accepted(
    call: Callable, values: Iterable, argument: str = "path", kind: type[Refusal] = InvalidValue
) -> list:
    """The values that the call does not refuse, or not for this argument, where it must."""
    passed = []
    for value in values:
        try:
            call(value)
        except kind as refusal:
            if refusal.argument == argument:
                continue
        passed.append(value)
    return passed


def refusal_of(call: Callable, *args: object, **options: object) -> tuple[type, str] | None:
    """The kind and the argument of the refusal of a call; None where nothing is refused."""
    try:
        call(*args, **options)
    except Refusal as refusal:
        return type(refusal), refusal.argument
    return None


def not_refused(call: Callable, cases: Iterable[tuple[dict, type, str]]) -> list[dict]:
    """Options that a call takes, or refuses otherwise: options, kind of refusal, argument."""
    return [
        options
        for options, kind, argument in cases
        if refusal_of(call, **options) != (kind, argument)
    ]


def _doors() -> dict[str, Callable[[str], str]]:
    """How each door shows a message: of Python, of R, and of the shell."""
    doors: dict[str, Callable[[str], str]] = {"Python": str}
    with suppress(ImportError):  # its own tests tell
        doors["R"] = import_module("glfs_bio.rbridge.words").door().show
    with suppress(ImportError):
        doors["shell"] = import_module("glfs_bio.cli.call").door({}, {}).show
    return doors


DOORS = _doors()


def faults(message: Refusal | Caution) -> list[str]:
    """What is wrong with what the doors show of a message."""
    wrong = []
    for name, show in DOORS.items():
        text = show(str(message))
        checks = {
            "an odd backtick": text.count("`") % 2,
            "a terminal would obey": not text.isprintable(),
            "too long": len(text) > LONGEST,
            "no full stop": not text.endswith((".", "?")),
            "words of Python": name != "Python" and "adata." in text,
        }
        wrong += [f"{name}: {fault}: {text}" for fault, is_there in checks.items() if is_there]
    if isinstance(message, Refusal):
        if not message.argument:
            wrong.append(f"no argument: {message}")
        if not (": " in str(message) or isinstance(message, _WRONG)):
            wrong.append(f"no remedy: {message}")
    return wrong
