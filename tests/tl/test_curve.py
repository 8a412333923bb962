"""How many genes are enough."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from glfs_bio import pp, tl
from glfs_bio.errors import InvalidValue


@pytest.fixture
def cells(pbmc):
    pp.structure(pbmc)
    return pbmc


def test_curve(cells):
    table = tl.curve(cells, 30, "bulk_labels", sizes=[5, 30], inplace=False)
    pp.select_genes(cells, 30)
    order = cells.var["glfs_rank"].sort_values().index[:30]
    assert list(table["gene"]) == list(order)
    np.testing.assert_allclose(table["preserved"], cells.uns["glfs"]["preserved"], rtol=1e-9)
    assert list(table.loc[table["accuracy"].notna(), "n_genes"]) == [5, 30]
    with refused(InvalidValue, "sizes"):
        tl.curve(cells, 5, "bulk_labels", sizes=[10])
    with refused(InvalidValue, "sizes"):
        tl.curve(cells, 5, sizes=[3])
    with refused(InvalidValue, "max_genes"):
        tl.curve(cells, 1000)
