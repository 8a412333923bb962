"""Parameters and outputs, as signatures and docstrings have them."""

from __future__ import annotations

from glfs_bio import Limits, tl
from glfs_bio._signatures import KEPT, REQUIRED, Parameter, kept, parameters, section
from glfs_bio.cli import signatures


def several(one: int, two: str = "a", *, three: float | None = None, **more: object) -> None:
    """Do several things.

    Parameters
    ----------
    one : int
        First of all.
    two, three : str or float
        The rest:

        - ``"a"``: a

    Returns
    -------
    None.  Written:

    ``.uns["x"]`` : dict
        Everything.
    """


def test_parameters():
    text = 'The rest:\n- ``"a"``: a'
    assert parameters(several) == {
        "one": Parameter("one", "int", "int", "First of all.", REQUIRED, True),
        "two": Parameter("two", "str", "str or float", text, "a", True),
        "three": Parameter("three", "float | None", "str or float", text, None),
    }


def test_fields_of_a_record():
    budget = parameters(Limits)["budget"]
    assert (budget.type, budget.default) == ("float | None", None)
    assert budget.text.startswith("Maximum cost of the panel.")


def test_outputs():
    assert section(several, "Returns")[-1] == ('``.uns["x"]``', "dict", "Everything.")
    heads = [head for head, *_ in section(tl.markers, "Returns")]
    assert '``.uns[key_added]["table"]``' in heads


def test_what_is_kept_is_current():
    """If not: ``make signatures``."""
    assert KEPT.read_text("utf-8") == signatures()


def test_kept_is_what_is_read():
    read = parameters(tl.markers)
    assert {name: vars(one) | {"is_positional": False} for name, one in read.items()} == {
        name: vars(one) for name, one in kept("tl.markers").items()
    }
