"""Commands: options from the signature and the docstring of the function that a command calls."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache, wraps
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

import glfs_bio

from .._progress import collected
from .._signatures import REQUIRED, Parameter, kept, parameters, written
from . import document, files, values, words
from .files import File
from .stderr import note, reported
from .values import As

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anndata import AnnData

#: Parameters that the shell has otherwise, or not at all.
_NOT_HERE = {"adata", "path", "inplace", "use_raw", "standardize", "overwrite"}
#: What options are called that are not called as parameters are; arguments in capitals.
_CALLED = {"random_state": "--seed", "panel": "PANEL"}
#: Fields of records with the names of parameters.
_FIELDS = {"name": "platform", "genes": "orderable"}
#: The function that has parameters of the structure itself, and those that it lacks.
_SELECT, _KNOBS = "pp.select_genes", ("n_neighbors", "lambda1")
#: Key of a structure with the parameters of the options.
_STRUCTURE = "glfs_structure_named"


#: Functions that the shell must know without importing them.
_FUNCTIONS = {"pp.structure", "io.read_cells"}
#: The function of each command that was imported; empty where it has none.
CALLED: dict[str, str] = {}
_JSON = "Print one JSON document: the result, files and notes, or the error."


def signatures(more: Mapping[str, Mapping[str, Parameter]]) -> str:
    """Return the text of the file that has what the shell knows of functions, and more."""
    functions = {name: parameters(attrgetter(name)(glfs_bio)) for name in sorted(_FUNCTIONS)}
    return written({**functions, **more})


@dataclass(frozen=True)
class Option:
    """An option or argument of a command."""

    name: str
    #: Its help, or a parameter of Python that says it.
    about: Parameter | str
    written: As
    default: Any
    #: Its names; of an argument what it is called, in capitals.
    declared: str = ""
    file: File | None = None
    #: The argument of the command, a record, of which it is a field, and which.
    field: tuple[str, str] = ("", "")
    heading: str | None = None

    @property
    def called(self) -> words.Spelling:
        """Its name in messages."""
        longest = max(self.declared.split() or [f"--{self.name.replace('_', '-')}"], key=len)
        positive, _, negative = longest.removesuffix("...").partition("/")
        return words.Spelling(positive, self.written.kind is bool, negative or None)

    def parameter(self, called: Mapping[str, words.Spelling]) -> inspect.Parameter:
        """Return the parameter from which typer makes it."""
        said = self.about if isinstance(self.about, str) else _help(self.about, called)
        said = f"{said} {self.written.help}".rstrip()
        if not isinstance(self.about, str):
            said += _default(self.about, called)
        info: Any
        if self.declared.isupper():
            info = typer.Argument(metavar=self.declared, help=said)
        else:
            names = self.declared.split() or [self.called.name]
            info = typer.Option(*names, help=said, rich_help_panel=self.heading)
        kind: Any = self.written.kind
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=self.default,
            annotation=Annotated[kind | None if self.default is None else kind, info],
        )


class Call:
    """The function of a command, with what the line gives of its parameters."""

    def __init__(self, function: str, given: dict[str, Any]) -> None:
        self.function = function
        self.given = given
        #: What the function told of its result, one line each.
        self.said: list[str] = []

    def __getitem__(self, name: str) -> Any:
        """A value that is given, or Python's default."""
        return self.given[name] if name in self.given else kept(self.function)[name].default

    @property
    def knobs(self) -> list[str]:
        """Parameters of the structure that are given and that no selection has."""
        return [name for name in _KNOBS if name in self.given]

    def check(self, **more: Any) -> None:
        """Refuse, before cells are read, what no selection can be asked for."""
        from ..options import Request

        given = self.given | more
        Request(**{one.name: given[one.name] for one in fields(Request) if one.name in given})

    def __call__(self, adata: Any, **more: Any) -> Any:
        """Call it, and return what it wrote under its key."""
        given = self.given | more
        with collected() as self.said:
            if _needs_structure(self.function):
                given = self._with_structure(adata, given)
            attrgetter(self.function)(glfs_bio)(adata, **given)
        from .._anndata import results

        first = next(iter(adata.values())) if isinstance(adata, dict) else adata
        key = results.last(first)
        document.keep(first.uns[key], key)
        return first.uns[key]

    def show(self) -> None:
        """Print what it told."""
        for line in self.said:
            note(line)

    def _with_structure(self, adata: AnnData, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments with a key in the place of the structure that options ask for.

        A panel that is the key of a selection has the selection's target and structure, where no
        option says otherwise.
        """
        asked = {name: given[name] for name in _of_structure() if name in given}
        others = {name: value for name, value in given.items() if name not in asked}
        seed = {"random_state": asked.get("random_state", 0)}
        if self.function == _SELECT:
            if not self.knobs:
                return given
            asked["symbols"] = given.get("symbols")
            glfs_bio.pp.structure(adata, **asked, key_added=_STRUCTURE)
            return others | seed | {"use_rep": _STRUCTURE}
        if "random_state" in kept(self.function):
            others |= seed
        weights = others.pop("cell_weights", None)
        if not asked and weights is None:
            return others
        panel = given.get("panel")
        if isinstance(panel, Mapping):
            panel = next(iter(panel.values()))
        from ..options import Request

        made, spec = Request(), {}
        if isinstance(panel, str) and panel in adata.uns and f"{panel}_selected" in adata.var:
            from .._anndata import results

            made = results.request_of(adata, panel)
            spec = {name: one for name, one in vars(made.structure).items() if name != "stored_key"}
        if asked:
            asked["symbols"] = given.get("symbols")
            glfs_bio.pp.structure(adata, **(spec | asked), key_added=_STRUCTURE)
        if "preserve" in others:
            made = Request(preserve=others["preserve"])
        target = glfs_bio.Preserve(
            made.preserve,
            made.cell_weights if weights is None else weights,
            _STRUCTURE if asked else None,
        )
        return others | {"preserve": target}


def command(
    *functions: str, only: Iterable[str] = (), **own: Any
) -> Callable[[Callable[..., None]], Callable[[], Callable[..., None]]]:
    """Make a command of a function that prints what a function of Python does.

    Parameters
    ----------
    *functions : str
        Functions whose parameters are options, such as ``"tl.markers"``: an argument of the type
        :class:`Call` calls the first.
    only : iterable of str
        The parameters that are options; by default all.
    **own
        What an option has of its own, by the name of the parameter: its names, how it is written,
        another description, the file that it is, or several of these in a tuple.  None: there is no
        such option.

    Notes
    -----
    Further arguments of the function are options too, as their annotations say, and of a record
    each field is one.  Files are checked before the function runs.  The options are made when the
    result is called.
    """
    _FUNCTIONS.update(functions)

    def decorate(function: Callable[..., None]) -> Callable[[], Callable[..., None]]:
        CALLED[function.__name__] = next(iter(functions), "")

        @cache
        @wraps(function)
        def with_options() -> Callable[..., None]:
            options: list[Option] = []
            hints = get_type_hints(function, include_extras=True)
            for name, parameter in inspect.signature(function).parameters.items():
                if hints[name] is Call:
                    options += _of_functions(functions, set(only), own, name)
                elif is_dataclass(hints[name]):
                    options += _of_record(name, hints[name])
                else:
                    options.append(_annotated(name, hints[name], parameter.default))
            options.append(_option("json", [_JSON], False, bool))
            options.append(_option("debug", ["Show tracebacks."], False, bool))
            called = {one.name: one.called for one in options}
            door = words.door(called)

            @wraps(function)
            def run(*, debug: bool, json: bool, **given: Any) -> None:
                found = document.Document(function.__name__) if json else None
                with reported(door, debug=debug, found=found):
                    named = [(one.name, one.file, given[one.name]) for one in options if one.file]
                    files.check(named, overwrite=given.get("overwrite", False), json=json)
                    function(**_arguments(options[:-2], hints, given, functions))
                    for name, file, paths in named:
                        if file.mode == "w" and paths:
                            every = paths if isinstance(paths, list) else [paths]
                            document.wrote(called[name].name, *every)

            made = [one.parameter(called) for one in options]
            run.__signature__ = inspect.Signature(made)  # type: ignore[attr-defined]
            run.__annotations__ = {one.name: one.annotation for one in made}
            return run

        return with_options

    return decorate


def _arguments(
    options: Iterable[Option],
    hints: Mapping[str, Any],
    given: Mapping[str, Any],
    functions: tuple[str, ...],
) -> dict[str, Any]:
    """Return the arguments of the function of a command: values, records and the call."""
    found: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {name: {} for name in (*hints, "limits", "platform")}
    for one in options:
        value, (record, name) = given.get(one.name), one.field
        is_given = value is not None and value != []
        value = one.written.read(value, one.name) if is_given else None
        if not record:
            found[one.name] = value
        elif is_given or is_dataclass(hints.get(record)):
            parts[record][name] = value
    for name, hint in hints.items():
        if hint is Call:
            records = {"limits": glfs_bio.Limits, "platform": glfs_bio.Platform}
            made = {one: record(**parts[one]) for one, record in records.items() if parts[one]}
            found[name] = Call(functions[0], parts[name] | made)
        elif isinstance(hint, type) and is_dataclass(hint):
            found[name] = hint(**parts[name])
    return found


def _of_functions(
    functions: Iterable[str], only: set[str], own: Mapping[str, Any], call: str
) -> list[Option]:
    """Return the options of the parameters of functions, those of the structure last."""
    first, *_ = functions
    every = {name: one for other in functions for name, one in kept(other).items()}
    every = {name: one for name, one in every.items() if not only or name in only}
    headings = dict.fromkeys(("preserve", "cell_weights"), "Target")
    if _needs_structure(first):
        if "preserve" in every:
            every["preserve"] = _target(every["preserve"])
            every["cell_weights"] = kept(_SELECT)["cell_weights"]
        every |= _of_structure()
        headings |= dict.fromkeys(_of_structure(), "Structure of the cells")
    options: list[Option] = []
    for name, one in every.items():
        about = own.get(name, ())
        about = about if isinstance(about, tuple) else (about,)
        if name in _NOT_HERE or None in about:
            continue
        if one.type in {"Limits | None", "Platform | None"}:
            options += _of_record(name, getattr(glfs_bio, one.type.split()[0]), name.capitalize())
            continue
        if name == "panel":  # an argument, which the shell always asks for
            one = replace(one, default=REQUIRED)
        default = one.default if one.default is REQUIRED or one.type == "bool" else None
        option = _option(name, (one, _CALLED.get(name, ""), *about), default)
        option = replace(option, field=(call, name), heading=headings.get(name))
        if name in {other.name for other in options}:  # a limit is called so, too
            option = replace(option, name=option.declared.removeprefix("--"))
        options.append(option)
    # typer lists the headings as they come
    return sorted(options, key=lambda one: one.heading is not None)


def _of_record(argument: str, record: type, heading: str | None = None) -> list[Option]:
    """Return the options of the fields of a record: one of the shell, or under a heading."""
    if heading is None:
        hints = get_type_hints(record, include_extras=True)
        own = [(one, _annotated(one.name, hints[one.name], one.default)) for one in fields(record)]
        return [replace(option, field=(argument, one.name)) for one, option in own]
    return [
        replace(_option(_FIELDS.get(name, name), (one,)), field=(argument, name), heading=heading)
        for name, one in parameters(record).items()
    ]


def _annotated(name: str, hint: Any, default: Any) -> Option:
    """Return an option from an annotation."""
    kind, *about = get_args(hint)
    if default is None:
        kind = next(one for one in get_args(kind) if one is not type(None))
    return _option(name, about, REQUIRED if default is MISSING else default, kind)


def _option(name: str, about: Iterable[Any], default: Any = None, kind: Any = None) -> Option:
    """Return an option from what is said about it; of its names and descriptions the last."""
    found: dict[type, Any] = {type(part): part for part in about if not isinstance(part, str)}
    texts = [part for part in about if isinstance(part, str) and part]
    names = [text for text in texts if text[0] == "-" or text.isupper()]
    said: Any = found.get(Parameter) or next(text for text in texts if text not in names)
    if kind is None and File in found:
        kind = Path
    spelt = found.get(As) or (values.written(name, said.type) if kind is None else As(kind))
    declared = names[-1] if names else ""
    return Option(name, said, spelt, default, declared, found.get(File))


@cache
def _of_structure() -> dict[str, Parameter]:
    """Parameters of a structure that are options; those of a selection say more."""
    select = kept(_SELECT)
    return {
        name: select.get(name, one)
        for name, one in kept("pp.structure").items()
        if name not in _NOT_HERE | {"key_added", "symbols"}
    }


def _needs_structure(function: str) -> bool:
    return "preserve" in kept(function)


def _target(own: Parameter) -> Parameter:
    """Return the target as a selection describes it, with the default of another function."""
    text = kept(_SELECT)["preserve"].text
    _, *further = re.split(r"(?=None: )", own.text)
    return replace(own, text="\n".join([text, *further]))


def _help(parameter: Parameter, called: Mapping[str, words.Spelling]) -> str:
    """Return the first sentence of a description, with the values that there are."""
    first = parameter.summary
    _, *bullets = re.split(r"(?:^|\n)- ", parameter.text)
    choices = [" ".join(one.split()).partition(": ")[0] for one in bullets]
    if not choices and (listed := re.match(r"\{(.*?)\}", parameter.kind)):
        choices = listed[1].split(", ")
    if choices and not all(one in first for one in choices):
        are_values = all('"' in one for one in choices)
        said = f"{', '.join(choices[:-1])} or {choices[-1]}" if are_values else "; ".join(choices)
        first = f"{first.removesuffix(':') or 'One of'}: {said}"
    return f"{_plain(first, called)}."


def _default(parameter: Parameter, called: Mapping[str, words.Spelling]) -> str:
    """Return what the help says of a default: the value, or what None means."""
    value = parameter.default
    if value is None or value == []:
        meaning = re.search(
            r"\bNone(?: or \S+)?: (.+?)(?=\.\s|\.?$)", " ".join(parameter.text.split())
        )
        value = _plain(meaning[1], called) if meaning else None
    if isinstance(value, list | tuple):
        value = ",".join(value)
    shown = value is not None and value is not REQUIRED and not isinstance(value, bool)
    return f" Default: {value}." if shown else ""


def _plain(text: str, called: Mapping[str, words.Spelling]) -> str:
    """Return the text of a docstring in the words of the shell."""
    names = {"adata": "IN"} | {name: one.name for name, one in called.items()}
    text = re.sub(r" ?\[\d+\]_", "", text)
    text = re.sub(
        r":\w+:`~?(?:glfs_bio\.)?([\w.]+)`", lambda one: words.command(one[1]) or one[1], text
    )
    text = re.sub(r"\{(\w+)\}", lambda one: one[1].upper(), re.sub(r'\bf"', '"', text))
    text = re.sub(r"``(?:\.(?=obs|var|uns))?(.*?)``", r"\1", text)
    return re.sub("`(.*?)`", lambda one: names.get(one[1], one[1]), text).replace('"', "")
