"""What ``pip install`` is told."""

from __future__ import annotations

from importlib.metadata import requires

from packaging.requirements import Requirement


def test_pynndescent_is_one_that_scanpy_can_work_with():
    wanted = {one.name: one for one in map(Requirement, requires("glfs-bio") or ())}
    allowed = wanted["pynndescent"].specifier
    assert "0.6.0" in allowed
    assert "0.7.0" not in allowed  # sc.pp.neighbors fails above 8,192 cells
