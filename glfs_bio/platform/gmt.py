"""Gene sets in the GMT format: name, description and genes on one line, separated by tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._files import existing
from ..errors import InvalidValue
from . import sheets

if TYPE_CHECKING:
    from pathlib import Path


def read_gmt(path: str | Path) -> dict[str, list[str]]:
    r"""Read gene sets from a GMT file.

    Parameters
    ----------
    path : str or path
        Text file with one set per line: name, description and genes, separated by tabs.

    Returns
    -------
    dict of str to list
        Genes of each set by its name, in the order of the file, each gene once.

    See Also
    --------
    write_gmt : Write selections as gene sets.

    Examples
    --------
    >>> import tempfile, pathlib, glfs_bio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "sets.gmt"
    ...     _ = path.write_text("T cells\tmarkers\tCD3D\tCD3E\n")
    ...     sets = glfs_bio.io.read_gmt(path)
    >>> sets
    {'T cells': ['CD3D', 'CD3E']}
    """
    path = existing(path)
    lines = sheets.text(path).splitlines()
    sets: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        name, *fields = (field.strip() for field in line.split("\t"))
        genes = [gene for gene in fields[1:] if gene]
        if not name or not genes:
            raise InvalidValue(
                "path",
                str(path),
                "is not a GMT file",
                f"line {number} must hold a name, a description and genes, separated by tabs; it "
                f"starts {line[:40]!r}",
            )
        if name in sets:
            raise InvalidValue(
                "path", str(path), f"has two gene sets {name!r}, the second in line {number}"
            )
        sets[name] = list(dict.fromkeys(genes))
    if not sets:
        raise InvalidValue("path", str(path), "holds no gene set")
    return sets
