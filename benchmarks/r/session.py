"""R with the package, as `make test` installs them, or as the environment says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def rscript(script: Path, *arguments: object) -> str:
    """What a script prints."""
    environment = {
        "R_LIBS": str(Path(sys.prefix) / "r" / "library"),
        "GLFSBIO_PYTHON": sys.prefix,
        **os.environ,
    }
    return subprocess.run(
        ["Rscript", script, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
