"""What tests ask of a refusal: its kind and its argument, not its sentence."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from glfs_bio.errors import Refusal


@contextmanager
def refused(kind: type[Refusal], argument: str) -> Iterator[pytest.ExceptionInfo[Refusal]]:
    """Pass where the block is refused for an argument, by a refusal of a kind."""
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.argument == argument, str(caught.value)
    assert str(caught.value)
