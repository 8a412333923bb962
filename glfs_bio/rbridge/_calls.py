"""The boundary at which R calls Python, and every exception becomes an R condition."""

from __future__ import annotations

import traceback
from typing import Any

from . import _buffers, _messages, _session, _sexp, _values, _wording
from ._targets import TARGETS


def answer(target: str, arguments: Any) -> Any:
    """Call a function for R (:data:`._targets.TARGETS`), with plain values.

    Returns
    -------
    A plain list with ``ok``, ``warnings`` and ``messages``, and ``value`` or the ``classes``,
    ``message`` and ``traceback`` of an exception.  Nothing is ever raised: rpy2 would print it and
    give R a NULL.
    """
    said = _messages.Said()
    try:
        values = _values.read(arguments)
        with _session.interruptible(), _messages.caught() as said:
            value = TARGETS[target](**values)
        told = {"ok": True, "value": value}
        # Here, so that what has no plain form is an error as any other.
        return _values.write(told | _told(said, target))
    except BaseException as error:  # noqa: BLE001 — an exception that gets out aborts the process
        text = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
        told = {
            "ok": False,
            "classes": _values.strings([kind.__name__ for kind in type(error).__mro__[:-1]]),
            "message": _wording.for_r(text, target),
            "traceback": "".join(traceback.format_exception(error)),
        }
        return _values.write(told | _told(said, target))


def answer_sexp(target: Any, arguments: Any) -> Any:
    """The same for rpy2."""
    return _sexp.sexp(answer(target[0], _sexp.plain(arguments)))


def answer_buffers(target: str, arguments: Any) -> Any:
    """The same for reticulate."""
    return _buffers.buffers(answer(target, _buffers.plain(arguments)))


def _told(said: _messages.Said, target: str) -> dict[str, Any]:
    return {
        "warnings": _values.strings([_wording.for_r(text, target) for text in said.warnings]),
        "messages": _values.strings([_wording.for_r(text, target) for text in said.messages]),
    }
