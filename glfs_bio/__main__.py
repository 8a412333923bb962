"""``python -m glfs_bio``, and what starts ``glfs-bio``."""

from __future__ import annotations

import os
import signal
import sys
import threading
import weakref
from typing import Any

from .checks import needs


def main() -> None:
    """Run the command line; a signal ends it as an exception does, which leaves nothing behind."""
    try:
        needs("glfs-bio on the command line", "typer", "scanpy")
    except ImportError as error:
        sys.exit(str(error).replace("`", ""))
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # as in nohup
            signal.signal(number, _stop)
    from .cli import app

    app(prog_name="glfs-bio")


def _stop(number: int, frame: Any) -> None:
    """Raise what ends the command, but not where Python drops exceptions: then a moment later."""
    if frame.f_code.co_filename == weakref.__file__:
        threading.Timer(0.01, os.kill, (os.getpid(), number)).start()
    elif number == signal.SIGINT:
        raise KeyboardInterrupt
    else:
        sys.exit(128 + number)


if __name__ == "__main__":
    main()
