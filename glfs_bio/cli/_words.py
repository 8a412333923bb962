"""Messages of the package in the words of the shell.

The package names its arguments, its functions and the parts of an AnnData object as Python does.
Here they become the options and commands that a user of the shell has.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._run import Option

#: Options that are called otherwise than the arguments that they are.
_CALLED = {
    "random_state": "seed",
    "n_permutations": "permutations",
    "n_jobs": "jobs",
    "columns": "column",
    "thresholds": "threshold",
}
#: Commands that are called otherwise than the functions that they are.
_COMMANDS = {
    "select_genes": "select",
    "evaluate_panel": "evaluate",
    "extend_panel": "extend",
    "explain_panel": "explain",
    "compare_panels": "compare",
}
#: Advice that is other advice here, where the command has the option (None: all commands).
_PHRASES = (
    ("log1p", "run sc.pp.normalize_total and sc.pp.log1p first", "pass --log1p"),
    (None, "pass re.compile(...)", "write it between slashes, as /^MT-/"),
    (None, ", or None.", "."),
    (None, "Give names as a list", "Give names with commas between them"),
)
_VALUE = r"""'[^']*'|"[^"]*"|\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|[-+]?\w+(?:\.\w+)?(?:[-+]\w+)?"""
_ARGUMENT = re.compile(rf"(?<![\w.'\"-])([A-Za-z_]\w*)=({_VALUE})?")
#: What follows a name that a sentence is about; columns that are listed may be called alike.
_VERB = r"(?:has|is|must|leaves|names|takes|needs|cannot|or|and|rule)\b"
_NAME = re.compile(rf"(?<![\w.'\"/-])(?<!, )([a-z]\w*_\w+)(?= {_VERB})")
_SUBJECT = re.compile(rf"(^|\w+Warning: |[.:] )([a-z]\w*)(?=: | {_VERB})")
_CALL = re.compile(r"glfs_bio\.(?:pp|tl)\.(\w+)(?:\(([^()]*)\))?")
#: Calls of other packages stay what they are.
_PYTHON = re.compile(r"(\b(?:sc|np|pd|adata)\.[\w.]+\([^()]*\))")
_ADATA = re.compile(r"\badata\.(\w+)\b(?!\()")


def in_words_of_the_shell(text: str, options: Mapping[str, Option]) -> str:
    """A message, with options for arguments, and commands for functions."""

    def option(name: str) -> Option | None:
        return options.get(name, options.get(_CALLED.get(name, name)))

    def argument(found: re.Match[str]) -> str:
        own = option(found[1])
        return found[0] if own is None else _given(own, found[2])

    def named(name: str) -> str:
        own = option(name)
        return name if own is None else own.name

    for needed, said, instead in _PHRASES:
        if needed is None or needed in options:
            text = text.replace(said, instead)
    parts = _PYTHON.split(_CALL.sub(_called, text))
    for place in range(0, len(parts), 2):
        part = _ARGUMENT.sub(argument, parts[place])
        part = _SUBJECT.sub(lambda found: found[1] + named(found[2]), part)
        part = _NAME.sub(lambda found: named(found[1]), part)
        parts[place] = _ADATA.sub(r"\1", part)
    return "".join(parts)


def _given(option: Option, value: str | None) -> str:
    """An argument with its value as it would be given."""
    if value is None or (option.is_flag and value == "True"):
        return option.name
    if option.is_flag and value == "False" and option.opposite:
        return option.opposite
    if value in {"None", "False"}:
        return f"no {option.name}"
    return f"{option.name} {_plain(value)}"


def _plain(value: str) -> str:
    """A value without quotation marks where the shell needs none."""
    if value[0] not in "'\"":
        return value
    text = str(ast.literal_eval(value))
    return text if re.fullmatch(r"[^\s'\"]+", text) else value


def _called(found: re.Match[str]) -> str:
    """A call of a function as a command line."""
    words = ["glfs-bio", _COMMANDS.get(found[1], found[1])]
    for given in filter(None, re.split(r", *", found[2] or "")):
        name, _, value = given.rpartition("=")
        if given not in {"adata", "..."}:
            option = f"--{_CALLED.get(name, name).replace('_', '-')} " if name else ""
            words.append(option + _plain(value))
    return " ".join(words)
