"""Files in and out."""

from __future__ import annotations

from ._atomic import check_target, replacing
from ._gene_list import write_gene_list, write_rnk
from ._gmt import read_gmt, write_gmt

__all__ = ["check_target", "read_gmt", "replacing", "write_gene_list", "write_gmt", "write_rnk"]
