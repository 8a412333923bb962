"""Parameters and outputs, as signatures and docstrings have them."""

from __future__ import annotations

from glfs_bio import tl
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


def test_what_a_signature_and_a_docstring_say():
    text = 'The rest:\n- ``"a"``: a'
    assert parameters(several) == {
        "one": Parameter("one", "int", "int", "First of all.", REQUIRED, True),
        "two": Parameter("two", "str", "str or float", text, "a", True),
        "three": Parameter("three", "float | None", "str or float", text, None),
    }
    assert section(several, "Returns")[-1] == ('``.uns["x"]``', "dict", "Everything.")


def test_what_is_stored_is_current():
    """If not: ``make signatures``."""
    assert KEPT.read_text("utf-8") == signatures()
    read = {name: vars(entry) for name, entry in parameters(tl.markers).items()}
    stored = {name: vars(entry) for name, entry in kept("tl.markers").items()}
    assert {name: entry | {"is_positional": False} for name, entry in read.items()} == stored
