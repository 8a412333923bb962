"""What a line on stderr must not do."""

from __future__ import annotations

import re

import pytest

from glfs_bio.cli import with_options


@pytest.fixture
def only_own_options():
    """Look whether a message of a command names options that it has."""

    def check(name: str, text: str) -> None:
        for other, option in re.findall(
            r"(?:glfs-bio (\w+) )?(?<!\S)(--[a-z][a-z\d-]*[a-z\d])", text
        ):
            every = [{*one.opts, *one.secondary_opts} for one in with_options(other or name).params]
            assert option in set().union(*every), text

    return check
