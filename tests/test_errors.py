"""What a value may be, and messages in the words of every door."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pytest
from refusals import DOORS, faults, refused

from glfs_bio import checks, errors
from glfs_bio.errors import Caution, InvalidType, InvalidValue, NotFound, Refusal

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, Refusal) and kind is not Refusal
]
HOSTILE = [
    *("\x1b[31mred", "two\nlines", "a\u2028b", "\u202egnirts", "\ud800", "\"'\\", "a`b", "``"),
    *("`None`", "`key=1`", "x`" * 9, "[" * 10_000, "{obs} {} {0} %s %(n)d"),
]


def test_a_refusal_knows_its_argument():
    refusal = InvalidValue(f"{errors.subject('n_genes', 5)} is more than the genes of `adata`")
    assert refusal.argument == "n_genes"
    assert str(refusal) == "`n_genes=5` is more than the genes of `adata`."
    with pytest.raises(NotFound) as caught, errors.within("a 'b'"):
        raise NotFound("`limits['groups']` is not in `adata.var`: choose a column")
    assert caught.value.argument == "limits['groups']"
    assert errors.quoted("a", None, (1, 2)) == "`'a'`, `None`, `(1, 2)`"


def test_doors_have_words_of_their_own():
    text = "`n_jobs=2` is in `adata.obs`, `False`: run `glfs_bio.tl.stability(adata)` on `'X_pca'`"
    shown = {name: show(text) for name, show in DOORS.items()}
    assert shown["Python"] == text
    assert shown["R"] == 'BPPARAM = 2 is in colData(x), FALSE: run glfs_stability(x) on "X_pca"'
    assert (
        shown["shell"] == "n_jobs 2 is in obs, false: run glfs_bio.tl.stability in Python on X_pca"
    )


@pytest.mark.parametrize("show", DOORS.values(), ids=DOORS)
def test_names_do_not_command_a_terminal(show):
    for name in HOSTILE:
        code = (errors.subject("key", name), errors.quoted(name), errors.listed([name]))
        for text in code:
            with pytest.raises(InvalidValue) as caught, errors.within(f"set {name}"):
                raise InvalidValue(f"`key` has {text} in `adata.obs`")
            assert show(str(caught.value)).isprintable()
        refusal = InvalidValue(f"{code[0]} has {code[1]} and {code[2]}")
        assert not faults(refusal)
        assert refusal.argument == "key"


def test_messages_come_from_another_process():
    for kind in KINDS:
        with pytest.raises(kind) as caught, errors.within("set 'a'"):
            raise kind("`key=[1]` is not in `adata.obs`: run it")
        refusal = caught.value
        copied = pickle.loads(pickle.dumps(refusal))
        assert type(copied) is kind
        assert (str(copied), copied.argument) == (str(refusal), "key")


def test_an_argument_that_the_caller_calls_otherwise():
    with pytest.raises(InvalidValue) as caught, errors.naming(y="labels"):
        raise InvalidValue("`y` has one class")
    assert caught.value.argument == "labels"
    assert str(caught.value) == "`labels` has one class."


@pytest.mark.parametrize(
    "message",
    [
        NotFound("`key` is not there"),
        InvalidValue("`key` must be " + "long" * 1000),
        InvalidValue("It is not there"),
        Caution("There is no full stop"),
        Caution("It is in adata.obs."),
    ],
)
def test_faults_are_found(message):
    assert faults(message)


def test_a_generator_is_no_seed():
    checks.seed(None)
    with refused(InvalidType, "random_state"):
        checks.seed(np.random.RandomState(0))


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


def test_notes_are_heard_again_whichever_thread_ends_first():
    logger = logging.getLogger("glfs_bio")
    level = logger.level
    first, second = errors.without_notes(), errors.without_notes()
    for step in (first.__enter__, second.__enter__):
        step()
        assert logger.level == logging.ERROR
    for context in (first, second):
        context.__exit__(None, None, None)
    assert logger.level == level
