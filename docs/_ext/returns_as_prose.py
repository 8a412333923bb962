"""What a function returns is told in sentences here, as in scanpy, and not as a list of types."""

from __future__ import annotations

from sphinx.ext.napoleon import NumpyDocstring


def _parse_returns_section(self: NumpyDocstring, section: str) -> list[str]:
    lines = self._dedent(self._consume_to_next_section())
    if lines[:1] == [":"]:  # by which sphinx-autodoc-typehints says that there is no type
        del lines[0]
    return self._format_block(":returns: ", lines)


def setup(app) -> dict[str, bool]:
    """Replace napoleon's reading of the section."""
    NumpyDocstring._parse_returns_section = _parse_returns_section
    return {"parallel_read_safe": True}
