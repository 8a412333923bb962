"""Options of commands: those of the functions that they call, and how the line has their values.

Names, types, defaults and help come from the source; :data:`_KINDS` has what is written otherwise.
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import glfs_bio

from .._docs import REQUIRED, Parameter, parameters_in_source, summary_in_source
from .._files import as_path, bad_file, check_target, existing, reading
from ..errors import FileExists, FileMissing, InvalidValue, naming, quoted, short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

#: Endings of files of cells, and of tables with what is between their columns.
_CELLS = (".h5ad", ".zarr")
TEXT_TABLES = {".csv": ",", ".tsv": "\t"}
#: Parameters that the shell has otherwise, or not at all.
_NOT_HERE = {"adata", "path", "inplace", "overwrite"}
#: Endings of files with the fields of a record.
_OF_FIELDS = (".json", ".toml")
#: Names with commas between them; patterns may have commas between their slashes.
_PART = re.compile(r"\s*(/(?:[^/\\]|\\.)+/(?=\s*(?:,|$))|[^,\s][^,]*)")


@dataclass(frozen=True)
class Option:
    """An option or argument of a command."""

    name: str
    help: str = ""
    type: Any = str
    #: Its names, if it is not called as the parameter is; of an argument its name, in capitals.
    flags: str = ""
    #: Makes Python's value of what the line has, for the argument of this name.
    read: Callable[[Any, str], Any] = lambda value, _: value
    default: Any = None
    #: Whether it names a file to read, or to write, and endings that such a file must have.
    file: Literal["", "r", "w"] = ""
    endings: tuple[str, ...] = ()
    #: What the help says beside the description.
    note: str = ""

    @property
    def spelling(self) -> str:
        """Its longest name, such as ``--n-genes``."""
        flags = self.flags.split() or [f"--{self.name.replace('_', '-')}"]
        return max(flags, key=len).partition("/")[0].removesuffix("...")

    def paths(self, line: Mapping[str, Any]) -> list[Path]:
        """Return the files that it names on a line."""
        value = line[self.name] if self.file else None
        paths = value if isinstance(value, list) else [value]
        return [Path(path) for path in paths if path is not None]


_ANNOTATED = "File for the annotated cells: .h5ad or .zarr."
_TABLE = "File for the table: .csv or .tsv."
OUTPUT = Option("output", _ANNOTATED, Path, "-o --output", file="w", endings=_CELLS)
TABLE = Option("table", _TABLE, Path, file="w", endings=tuple(TEXT_TABLES))
TABLES = Option("tables", "Folder for all tables of the result, as .csv.", Path)
_AS_JSON = "Print one JSON document: the result, files and notes, or the error."
_OF_ALL = (
    Option("overwrite", "Replace existing files.", bool, default=False),
    Option("json", _AS_JSON, bool, default=False),
    Option("debug", "Show tracebacks.", bool, default=False),
)


@dataclass(frozen=True)
class Command:
    """A command: the function that it calls, and what it has of its own."""

    #: The function whose parameters are options, such as ``"tl.explain_panel"``.
    function: str
    #: Words of a line that runs it.
    example: str
    #: Options that the function does not have.
    own: tuple[Option, ...] = (OUTPUT, TABLE, TABLES)
    #: Fields of :class:`Option` that differ, by parameter.
    differing: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: What it does, where its function says something else first.
    about: str = ""
    #: Whether it reads cells.
    reads: bool = True
    #: What it prints: a table of the record by its name, or a function that makes one.
    table: str | Callable[..., Any] = "table"
    #: What it does where that is more than to call the function and print the table.
    run: Callable[..., None] | None = None

    @property
    def summary(self) -> str:
        """What it does."""
        return self.about or _plain(summary_in_source(self.function), {"adata": "IN"})

    @property
    def arguments(self) -> dict[str, Option]:
        """The options that are arguments of the function, by name."""
        described = parameters_in_source(self.function)
        return {
            name: replace(_of_parameter(parameter), **self.differing.get(name, {}))
            for name, parameter in described.items()
            if name not in _NOT_HERE
        }

    def options(self) -> list[Option]:
        """Return all options, as the help lists them."""
        of_cells = _of_cells() if self.reads else []
        return [*of_cells, *self.own, *self.arguments.values(), *_OF_ALL]


def signature(options: Iterable[Option]) -> inspect.Signature:
    """Return the signature of which typer makes the options."""
    names = {"adata": "IN"} | {option.name: option.spelling for option in options}
    parameters = []
    for option in options:
        text = f"{_plain(option.help, names)} {option.note}".rstrip()
        flags = option.flags.split() or [option.spelling]
        info: Any = typer.Option(*flags, help=text)
        if option.flags.isupper():
            info = typer.Argument(metavar=option.flags, help=text)
        kind = option.type | None if option.default is None else option.type
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameter = inspect.Parameter(option.name, keyword, annotation=Annotated[kind, info])
        parameters.append(parameter.replace(default=option.default))
    return inspect.Signature(parameters)


def _of_parameter(parameter: Parameter) -> Option:
    """Return the option of a parameter, required where that has no default."""
    types = parameter.type.removesuffix(" | None")
    plain = next((_TYPES[name] for name in types.split(" | ") if name in _TYPES), str)
    default: Any = {REQUIRED: REQUIRED, "False": False}.get(parameter.default)
    option = Option(parameter.name, _help(parameter), plain, default=default)
    return replace(option, **_KINDS.get(parameter.name) or _KINDS.get(types, {}))


def _help(parameter: Parameter) -> str:
    """Return the first sentence of a description, the values that there are, and the default."""
    text, kind = parameter.summary, parameter.kind
    choices = [bullet.partition(":")[0] for bullet in f"\n{parameter.text}".split("\n- ")[1:]]
    if not choices and kind.startswith("{"):
        choices = [kind.partition("{")[2].partition("}")[0]]
    if choices:
        text = f"{text.removesuffix(':')}: {'; '.join(choices)}"
    default = kind.partition("default ")[2]
    if default in {"", "None"}:
        meaning = " ".join(parameter.text.split()).partition("None: ")[2]
        default = meaning.partition(". ")[0].removesuffix(".")
    return f"{text}." if default in {"", "False", "True", "()"} else f"{text}. Default: {default}."


def _plain(text: str, names: Mapping[str, str]) -> str:
    """Return a text without the markup of docstrings, with the names that options have."""
    text = re.sub(r":\w+:`~?(?:glfs_bio\.)?([\w.]+)`", r"\1", text).replace(" [1]_", "")
    text = text.replace("``", "").replace('"', "")
    return re.sub("`(.*?)`", lambda name: names.get(name[1], name[1]), text)


def _of_cells() -> list[Option]:
    """Return the options of cells."""
    about = "Cells × genes: .h5ad, .h5mu, .zarr, .csv, .tsv, .txt, .mtx, 10x .h5 or folder"
    source = Option("source", f"{about}.", Path, "IN", default=REQUIRED, file="r")
    described = parameters_in_source("io.read_cells")
    names = ("backed", "transpose", "modality")
    log1p = Option("log1p", "Log-normalise X; its counts become a layer.", bool, default=False)
    return [source, *(_of_parameter(described[name]) for name in names), log1p]


def cells_or_table(text: str, argument: str) -> Any:
    """Return the cells of a file, or its table; another text as it is."""
    ending = Path(text).suffix.lower()
    if ending in _CELLS:
        return glfs_bio.io.read_cells(text)
    if ending not in TEXT_TABLES:
        return text
    import pandas as pd

    with naming(path=argument), reading(text, "a table", argument):
        separator = TEXT_TABLES[ending]
        if separator not in existing(text).read_text("utf-8-sig").partition("\n")[0]:
            missing = f"has no {separator!r} in its first line"
            raise bad_file(text, f"{missing}: put it between columns, and points in numbers")
        return pd.read_csv(text, sep=separator, index_col=0)


def panels(words: list[str], argument: str) -> Any:
    """Return a panel, or several by their names."""
    if len(words) == 1 and "=" not in words[0]:
        return panel(words[0], argument)
    pairs = [word.rpartition("=") for word in words]
    by_name = {name or Path(text).stem: panel(text, argument) for name, _, text in pairs}
    if len(by_name) < len(words):
        raise InvalidValue(f"`{argument}={short(words)}` has a name twice: write NAME=PANEL")
    return by_name


def panel(text: str, argument: str) -> str | list[str | re.Pattern[str]]:
    """Return the genes of a list; a key, a column or a file as it is."""
    return genes([text], argument) if "," in text or text.startswith("@") else text


def genes(words: Iterable[str], argument: str) -> list[str | re.Pattern[str]]:
    """Return names with commas between them; ``/…/`` is a pattern, ``@…`` a file of names."""
    from ..vendors.genes import read_panel

    items: list[str | re.Pattern[str]] = []
    for text in [text.strip() for word in words for text in _PART.findall(word)]:
        if text[0] == "@":
            items += read_panel(text[1:])
        elif len(text) < 3 or text[0] != "/" or text[-1] != "/":
            items.append(text)
        else:
            with reading(text, "a regular expression", argument):
                items.append(re.compile(text[1:-1]))
    return items


def background(text: str, argument: str) -> list[str | re.Pattern[str]]:
    """Return the genes of a list, or of a file, with or without ``@``."""
    return genes([text if "," in text else f"@{text.removeprefix('@')}"], argument)


def sizes(text: str, argument: str) -> list[int]:
    """Return whole numbers with commas between them."""
    with reading(text, "whole numbers", argument):
        return [int(size) for size in text.split(",")]


def preserve(words: list[str], argument: str) -> Any:
    """Return one target as it is, several with their weights, or a target with its structure."""
    if len(words) == 1 and words[0].startswith("{"):
        return record(words[0], argument)
    if len(words) == 1 and "=" not in words[0]:
        return panel(words[0], argument)
    pairs = [word.rpartition("=") if "=" in word else (word, "=", "1") for word in words]
    try:
        weights = {name: float(weight) for name, _, weight in pairs if "," not in name}
    except ValueError:
        weights = {}
    if len(weights) < len(words):
        text = f"`{argument}={short(words)}` must be targets, each once, as NAME or NAME=WEIGHT"
        raise InvalidValue(f"{text}: name a file of genes, or a boolean column of `adata.var`")
    return weights


def record(text: str, argument: str) -> Any:
    """Return limits, a platform or a target by the fields in a file, or in JSON on the line."""
    ending = Path(text).suffix.lower()
    if not text.startswith("{") and ending not in _OF_FIELDS:
        raise InvalidValue(f"`{argument}={short(text)}` must be a file, .json or .toml, or JSON")
    with reading(text, ending.strip(".") or "JSON", argument):
        content = text if text.startswith("{") else Path(text).read_text("utf-8")
        values = {**(tomllib.loads(content) if ending == ".toml" else json.loads(content))}
    kind = getattr(glfs_bio, argument.capitalize())
    names = [item.name for item in fields(kind)]
    for name in values.keys() - {*names}:
        raise InvalidValue(f"`{argument}={short(name)}` is no field: choose from {quoted(*names)}")
    for name in {"efficiency", "spillover_to"} & values.keys():
        if isinstance(values[name], str):
            values[name] = cells_or_table(values[name], argument)
    return kind(**values)


def platform(text: str, argument: str) -> Any:
    """Return a platform by its name, alone or with its genes, or by all its fields."""
    name, _, orderable = text.partition("=")
    if text.startswith("{") or Path(name).suffix.lower() in _OF_FIELDS:
        return record(text, argument)
    return glfs_bio.Platform(name or None, genes=orderable or None)


_TYPES = {"str": str, "int": int, "float": float, "bool": bool}
_PANEL = "A file: .txt, .csv, .tsv, .gmt, .xlsx, .json; or names with commas between them."
_LIST = "A file, or names with commas between them."
_COMMAS = "With commas between them."
_WEIGHTS = "Several: repeat the option, each with its weight as NAME=WEIGHT."
_GENES = "Names with commas between them, /patterns/, @files; may be repeated."
_FIELDS = "a file of fields, .json or .toml, or JSON itself."
#: What options of parameters are beside that, by the name of the parameter, or else its type.
_KINDS: dict[str, dict[str, Any]] = {
    "panel": {"flags": "PANEL", "read": panel, "note": _PANEL, "default": REQUIRED},
    "catalogue": {"read": panel, "note": _PANEL},
    "drop": {"read": panel, "note": _LIST},
    "AnnData": {"type": Path, "file": "r", "read": lambda path, _: glfs_bio.io.read_cells(path)},
    "background": {"read": background, "note": _LIST},
    "measures": {"read": lambda text, _: text.split(","), "note": _COMMAS},
    "sizes": {"read": sizes, "note": _COMMAS},
    "Genes": {"type": list[str], "read": genes, "note": _GENES},
    "preserve": {"type": list[str], "read": preserve, "note": _WEIGHTS},
    "n_comps": {"read": lambda number, _: number or None, "note": "0: full rank."},
    "basis": {"read": lambda text, _: text != "none" and text, "note": "none: no UMAP."},
    "transpose": {"flags": "--transpose/--no-transpose"},
    "random_state": {"flags": "--seed"},
    "gene_sets": {"file": "r", "endings": (".gmt",)},
    "limits": {"read": record, "note": f"By {_FIELDS}"},
    "platform": {"read": platform, "note": f"By its name, NAME=GENES with a list, or {_FIELDS}"},
}


def check_files(options: Sequence[Option], line: Mapping[str, Any]) -> None:
    """Refuse, before anything is loaded, files that cannot be read or written."""
    overwrite, folder = line.get("overwrite", False), line.get("tables")
    files = [(option, path) for option in options for path in option.paths(line)]
    for option, path in files:
        has_ending = not option.endings or path.suffix.lower() in option.endings
        if option.file == "w":
            if not has_ending:
                endings = " or ".join(option.endings)
                raise InvalidValue(f"`{option.name}={short(path)}` must end with {endings}")
            with naming(path=option.name):
                check_target(path, overwrite=overwrite)
        elif has_ending and not as_path(path, option.name).exists():
            raise FileMissing(f"`{option.name}={short(path)}` is not there: name a file or folder")
    if folder is not None and folder.is_file():
        raise FileExists(f"`tables={short(folder)}` is a file: name a folder")
    if folder is not None:
        with naming(path="tables"):
            for path in folder.glob("*.csv") if folder.is_dir() else [folder]:
                check_target(path, overwrite=overwrite and path is not folder)
    targets = [(option.name, path, path) for option, path in files if option.file == "w"]
    targets += [] if folder is None else [("tables", folder, folder / "*.csv")]
    read = [path.resolve() for option, path in files if option.file == "r"]
    _check_apart(targets, read)


def _check_apart(targets: Sequence[tuple[str, Path, Path]], read: Sequence[Path]) -> None:
    """Refuse targets that are one file, or in a store that the line reads or writes."""
    written: list[Path] = []
    for name, path, file in targets:
        target = file.resolve()
        stores = {store for store in (*read, *written) if store.suffix.lower() == ".zarr"}
        if target in written or not stores.isdisjoint(target.parents):
            raise InvalidValue(f"`{name}={short(path)}` is in another file of the line: move it")
        written.append(target)
