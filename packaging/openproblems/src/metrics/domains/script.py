import sys

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import kneighbors_graph

## VIASH START
par = {
    "input_labelled": "resources_test/task_panel_selection/pancreas/labelled_dataset.h5ad",
    "input_solution": "resources_test/task_panel_selection/pancreas/solution.h5ad",
    "input_panel": "resources_test/task_panel_selection/pancreas/panel.h5ad",
    "output": "score.h5ad",
}
meta = {"name": "domains", "resources_dir": "src/utils"}
## VIASH END

sys.path.append(meta["resources_dir"])
from nearest_cells import predicted
from panel_files import read_cells, read_panel, write_scores

#: A cell and those around it on a hexagonal grid.
AROUND = 7


def averaged(cells, genes):
    """Return the mean expression of every cell and of those around it in its section."""
    where = cells.obsm["spatial"]
    far_apart = pd.factorize(cells.obs["batch"])[0] * 10 * np.ptp(where)
    graph = kneighbors_graph(np.column_stack([where, far_apart]), AROUND, include_self=True)
    return graph @ cells.X[:, genes] / AROUND


known, cells = read_cells(par["input_labelled"]), read_cells(par["input_solution"])
panel = read_panel(par["input_panel"], cells)
genes = panel.var["selected"].to_numpy()

recall = np.nan
if "domain" in cells.obs:
    there, here = (part.obs["domain"].notna().to_numpy() for part in (known, cells))
    domains = known.obs["domain"][there].astype(str)
    found = predicted(averaged(known, genes)[there], domains, averaged(cells, genes)[here])
    recall = balanced_accuracy_score(cells.obs["domain"][here].astype(str), found)
write_scores(par["output"], panel, {"domain_recall": recall})
