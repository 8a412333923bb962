"""Marks in messages: every door replaces them, whatever the names between them are."""

from __future__ import annotations

import json
import pickle

import pytest
from refusals import DOORS, faults

from glfs_bio import errors
from glfs_bio.errors import (
    FALSE,
    NO_VALUE,
    OBS,
    PYTHON,
    Caution,
    InvalidValue,
    Message,
    NotFound,
    PackageMissing,
    Refusal,
    arg,
    call,
    listed,
    naming,
    shown,
)

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, Refusal) and kind is not Refusal
]
HOSTILE = [
    *("\x1b[31mred", "two\nlines", "a\u2028b", "\u202egnirts", "\ue000", "\ue001\ue000", "\ud800"),
    *('\ue000["word", "nothing"]\ue001', '\ue000["arg", 5]\ue001', "\ue000{}\ue001", "\"'\\"),
    *("\ue000" + "[" * 100_000 + "\ue001", "{obs} {} {0} %s %(n)d"),
]


def test_python():
    said = f"{arg('key')} and {arg('n_jobs', 2)} are in {OBS}, {FALSE}: run {call('tl.curve')}"
    assert PYTHON.show(said) == (
        "key and n_jobs=2 are in adata.obs, False: run glfs_bio.tl.curve(adata)"
    )
    assert PYTHON.show(shown("a", None, (1, 2), 0.5)) == "'a', None, (1, 2), 0.5"


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_every_door_has_every_word(door):
    words = [word for word in vars(errors).values() if str(word).startswith('\ue000["word"')]
    assert words
    assert {json.loads(word[1:-1])[1] for word in words} <= set(door.words)
    assert "\ue000" not in door.show(" ".join(words))


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_names_do_not_command_a_terminal(door):
    for name in HOSTILE:
        texts = (name, repr(name), listed([name]), shown(name), arg(name), arg("key", name))
        for text in (*texts, call(name)):
            for refusal in (
                InvalidValue("key", name, f"has {text} in {OBS}", f"leave {text} out"),
                InvalidValue(f"key[{name!r}]", [name], f"has {text} in {OBS}").within(name),
            ):
                said = refusal.render(door)
                assert said.isprintable()
                assert f" in {door.words['obs']}" in said


def test_messages_come_from_another_process():
    for kind in KINDS:
        refusal = kind("key", [1], f"is not in {OBS}", f"run {call('tl.curve')}").within("set 'a'")
        copied = pickle.loads(pickle.dumps(refusal))
        assert type(copied) is kind
        assert (str(copied), vars(copied)) == (str(refusal), vars(refusal))
        assert pickle.loads(pickle.dumps(kind("key", NO_VALUE))).value is NO_VALUE
    caution = Caution(f"{arg('key')} is not in {OBS}.")
    assert str(pickle.loads(pickle.dumps(caution))) == str(caution) == "key is not in adata.obs."


def test_an_argument_that_the_caller_calls_otherwise():
    with pytest.raises(InvalidValue) as caught, naming(y="labels"):
        raise InvalidValue("y", NO_VALUE, "has one class")
    assert caught.value.argument == "labels"
    assert str(caught.value) == "labels has one class."
    assert str(PackageMissing("jinja2", "A report", "needs it")) == "A report needs it."


@pytest.mark.parametrize(
    "message",
    [
        InvalidValue("key", NO_VALUE, 'is in \ue000["word", "obss"]\ue001', "leave it out"),
        NotFound("key", NO_VALUE, "is not there"),
        InvalidValue("key", NO_VALUE, "must be " + "long" * 1000),
        Caution("There is no full stop"),
        Message("It is in adata.obs."),
    ],
)
def test_faults_are_found(message):
    assert faults(message)
