"""``python -m glfs_bio``, and what starts ``glfs-bio``."""

from __future__ import annotations

import sys

from .checks import needs


def main() -> None:
    """Run the command line."""
    try:
        needs("glfs-bio on the command line", "typer", "scanpy")
    except ImportError as error:
        sys.exit(str(error).replace("`", ""))
    from .cli import app

    app(prog_name="glfs-bio")


if __name__ == "__main__":
    main()
