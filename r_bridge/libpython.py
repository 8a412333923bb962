"""Exit with 1 where this Python's shared library, by which R starts Python, is missing."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

places = [sysconfig.get_config_var(name) for name in ("LIBPL", "LIBDIR")]
pattern = f"libpython{sys.version_info.major}.{sys.version_info.minor}*"
found = (
    path
    for place in places
    for path in Path(place).glob(pattern)
    if ".so" in path.name or path.suffix == ".dylib"
)
sys.exit(not any(found))
