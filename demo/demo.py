"""Select 25 genes of 700 blood cells and see how much of the cells' structure they keep.

The same as ``glfs-bio demo``.
"""

from __future__ import annotations

from pathlib import Path

from glfs_bio.cli.commands_select import run_demo

if __name__ == "__main__":
    run_demo(Path(__file__).parent / "output", overwrite=True)
