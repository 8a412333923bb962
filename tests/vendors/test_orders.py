"""Forms of orders: what they refuse, and what their files hold."""

from __future__ import annotations

import pandas as pd
from refusals import refused

from glfs_bio.errors import InvalidValue, NotFound
from glfs_bio.vendors.genes import as_genes
from glfs_bio.vendors.names import Resolver
from glfs_bio.vendors.orders import ORDERS

GENES = pd.DataFrame(
    {
        "symbol": ["CD3D", "LYZ", "NKG7"],
        "id": ["ENSG00000167286", "ENSG00000090382", ""],
        "probe_count": [9, 1, 9],
    }
)
TABLE = pd.DataFrame({"gene": ["CD3D", "LYZ"], "name": ["T3D", "LYZ"], "id": [*GENES["id"][:2]]})


def test_why_genes_cannot_be_ordered():
    genes = as_genes(GENES)
    names = ["CD3D", "LYZ", "NKG7", "MS4A1", "2-Sep"]
    resolved = Resolver.of(names, genes, history=genes).resolve(names)
    for strict in (False, True):
        for platform, form in ORDERS.items():
            many, few, no_id, strange, date = form.faults(
                resolved, strict=strict, n_probes=genes["n_probes"].to_numpy(), min_probes=3
            )
            assert many == ""
            assert few == "has 1 probes, fewer than 3"
            assert bool(no_id) == platform.startswith("xenium")
            assert bool(strange) == (strict or platform.startswith("xenium"))
            assert "date" in date


def test_what_can_be_asked_of_xenium_alone():
    for platform, form in ORDERS.items():
        if platform.startswith("xenium"):
            assert list(form.probe_sets(TABLE, {"T3D": 2})) == [2, 0]
            assert list(form.forced(TABLE, ["LYZ"])) == [False, True]
            with refused(InvalidValue, "probe_sets"):
                form.probe_sets(TABLE, form.most_probe_sets + 1)
            with refused(NotFound, "force"):
                form.forced(TABLE, ["MS4A1"])
        else:
            for argument, ask in (("probe_sets", form.probe_sets), ("force", form.forced)):
                with refused(InvalidValue, argument):
                    ask(TABLE, ["LYZ"])
        assert not form.probe_sets(TABLE, None).any()
        assert not form.forced(TABLE, []).any()
