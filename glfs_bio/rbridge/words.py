"""The words of R, in which it hears refusals, warnings and notes."""

from __future__ import annotations

import json
import re
import tomllib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Door, cut, short
from . import formals

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A text that Python wrote, as the key of an item.
_QUOTED = re.compile("'(.*)'")
#: R's words of all classes and of each, by those of Python.
_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
#: Calls of R's functions, by the names of Python's.
_CALLS = {name: f"glfs_{name}(x)" for name in formals.FUNCTIONS}
_CALLS |= {"Limits": "glfs_limits()", "Platform": "glfs_platform()"}


def argument(words: Mapping[str, str], name: str, value: str | None = None) -> str:
    """Return an argument of Python as R has it, with its value as R writes it."""
    name, bracket, item = name.partition("[")
    text = words.get(name, name)
    text += bracket + _QUOTED.sub(lambda key: shown(key[1]), item)
    # of a vector, not the name of the column that R put it into
    is_column = value == json.dumps(f"glfs_{text}")
    return text if value is None or is_column else f"{text} = {value}"


def call(name: str) -> str:
    """Return a call of a function of Python, by the function that R has for it."""
    return _CALLS.get(name.rpartition(".")[2], f"glfs_bio.{name} in Python")


def shown(value: object) -> str:
    """Return a value as R writes it, shortened."""
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    if isinstance(value, str):
        return cut(json.dumps(value, ensure_ascii=False))
    if isinstance(value, dict):
        items = [f"{name} = {shown(item)}" for name, item in value.items()]
    elif isinstance(value, list | tuple | set):
        items = [shown(item) for item in value]
    else:
        return short(value)
    return cut(f"c({', '.join(items)})")


def door(of: str = "SummarizedExperiment") -> Door:
    """Return the door of R, with the words of a class, by those of Python."""
    words = formals.RENAMED | _WORDS["all"] | _WORDS.get(of, {})
    return Door(words=words, argument=partial(argument, words), call=call, value=shown)
