"""What a value may be, and messages of which every door replaces the marks."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from refusals import DOORS, faults, refused

from glfs_bio import checks, errors
from glfs_bio.errors import (
    NO_VALUE,
    OBS,
    Caution,
    InvalidType,
    InvalidValue,
    Message,
    NotFound,
    Refusal,
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
    is_wrong = f"{errors.arg('n_jobs', 2)} is in {OBS}, {errors.FALSE}"
    said = f"{errors.arg('key')}, {is_wrong}: run {errors.call('tl.enrich')}"
    assert errors.PYTHON.show(said) == (
        "key, n_jobs=2 is in adata.obs, False: run glfs_bio.tl.enrich(adata)"
    )
    assert errors.PYTHON.show(errors.shown("a", None, (1, 2), 0.5)) == "'a', None, (1, 2), 0.5"


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_every_door_has_every_word(door):
    words = [word for word in vars(errors).values() if str(word).startswith('\ue000["word"')]
    assert words
    assert {json.loads(word[1:-1])[1] for word in words} <= set(door.words)
    assert "\ue000" not in door.show(" ".join(words))


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_names_do_not_command_a_terminal(door):
    wraps = (str, repr, errors.arg, errors.call, errors.shown, lambda name: errors.listed([name]))
    for name in HOSTILE:
        for text in (*(wrap(name) for wrap in wraps), errors.arg("key", name)):
            problem = f"has {text} in {OBS}"
            for refusal in (
                InvalidValue("key", name, problem, f"leave {text} out"),
                InvalidValue(f"key[{name!r}]", [name], problem).within(f"set {name}"),
            ):
                said = refusal.render(door)
                assert said.isprintable()
                assert f" in {door.words['obs']}" in said


def test_messages_come_from_another_process():
    for kind in KINDS:
        refusal = kind("key", [1], f"is not in {OBS}", "run it").within("set 'a'")
        copied = pickle.loads(pickle.dumps(refusal))
        assert type(copied) is kind
        assert (str(copied), vars(copied)) == (str(refusal), vars(refusal))
        assert pickle.loads(pickle.dumps(kind("key", NO_VALUE))).value is NO_VALUE
    caution = Caution(f"{errors.arg('key')} is not in {OBS}.")
    assert str(pickle.loads(pickle.dumps(caution))) == str(caution) == "key is not in adata.obs."


def test_an_argument_that_the_caller_calls_otherwise():
    with pytest.raises(InvalidValue) as caught, errors.naming(y="labels"):
        raise InvalidValue("y", NO_VALUE, "has one class")
    assert caught.value.argument == "labels"
    assert str(caught.value) == "labels has one class."
    assert str(errors.PackageMissing("jinja2", "A report", "needs it")) == "A report needs it."


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


def test_a_generator_is_a_seed_for_estimators_only():
    state = np.random.RandomState(0)
    checks.seed(state, state_too=True)
    checks.seed(None)
    with refused(InvalidType, "random_state"):
        checks.seed(state)


def test_keys_of_scanpy_stay_its_own():
    for key in ("neighbors", "pca", "umap", "X_pca", "louvain", "log1p"):
        checks.keys(key_added="glfs", key=f"my_{key}")
        with refused(InvalidValue, "key_added"):
            checks.keys(key_added=key)


def test_numbers_of_numpy_are_numbers():
    for kind in (np.float16, np.float32, np.float64, np.longdouble, np.int8):
        checks.number("lambda1", kind(3))
        for value in (kind(-3), np.float16("inf")):
            with refused(InvalidValue, "lambda1"):
                checks.number("lambda1", value)
