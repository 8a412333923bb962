"""Whether a problem at full rank fits into memory."""

from __future__ import annotations

import os

from refusals import refused

from glfs_bio.data import memory
from glfs_bio.errors import InvalidValue


def test_a_system_that_does_not_say_its_memory(monkeypatch):
    def unknown(_):
        raise OSError

    with refused(InvalidValue, "n_comps"):
        memory.full_rank_fits(10**7, 10**6)
    monkeypatch.setattr(os, "sysconf", unknown)
    memory.full_rank_fits(10**7, 10**6)
