"""Whether a problem at full rank fits into memory."""

from __future__ import annotations

import os

import pytest

from glfs_bio.data import memory


def test_a_system_that_does_not_say_its_memory(monkeypatch):
    def unknown(_):
        raise OSError

    with pytest.raises(ValueError, match="n_comps=None takes about"):
        memory.full_rank_fits(10**7, 10**6)
    monkeypatch.setattr(os, "sysconf", unknown)
    memory.full_rank_fits(10**7, 10**6)
