"""What becomes of a panel when families of genes are excluded, and when they are ignored.

python -m benchmarks.families
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import glfs_bio
from glfs_bio._anndata.names import is_member

from . import tables
from .data import KANG, LABEL, SETS, load
from .measures import neighbour_accuracy
from .tables import say

SIZE = 100
#: Two of blood and one of pancreas.
DATASETS = (KANG, SETS[0], SETS[1])
UNWANTED = ("ribosomal", "mitochondrial")
WAYS = {
    "all genes": {},
    "exclude": {"exclude": list(UNWANTED)},
    "ignore": {"ignore": list(UNWANTED)},
    "ignore, and housekeeping": {"ignore": [*UNWANTED, "housekeeping"]},
}


def measured(adata, genes: np.ndarray) -> dict[str, object]:
    """Return how many genes of a panel are of what family, and how well labels are predicted."""
    names = list(adata.var_names[genes])
    of_ribosomes = [name for name in names if any(is_member(name, one) for one in UNWANTED)]
    in_all = [name for name in names if is_member(name, "housekeeping")]
    values, labels = adata.X[:, genes].toarray(), np.asarray(adata.obs[LABEL].astype(str))
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    return {
        "unwanted": len(of_ribosomes),
        "housekeeping": len(set(in_all) - set(of_ribosomes)),
        "15-NN": neighbour_accuracy(adata.X[:, genes], labels),
        "logistic": cross_val_score(logistic, values, labels, cv=3).mean(),
        "such as": ", ".join([name for name in in_all if name not in of_ribosomes][:6]),
    }


def main() -> None:
    """Write the table."""
    tables.parser(__doc__).parse_args()
    rows = {}
    for name in DATASETS:
        adata = load(name)
        for way, options in WAYS.items():
            found = glfs_bio.pp.select_genes(adata, SIZE, **options, inplace=False)
            rows[name, way] = measured(adata, np.flatnonzero(found["glfs_selected"]))
            say(f"{name}, {way}: done")
    table = pd.DataFrame(rows).T.rename_axis(["dataset", "selection"]).reset_index()
    numbers = ["15-NN", "logistic"]
    table[numbers] = table[numbers].astype(float).round(3)
    tables.write("panels_families", table.set_index("dataset"), n_genes=SIZE)


if __name__ == "__main__":
    main()
