import sys

import numpy as np
from sklearn.neighbors import NearestNeighbors

## VIASH START
par = {
    "input_solution": "resources_test/task_panel_selection/pancreas/solution.h5ad",
    "input_panel": "resources_test/task_panel_selection/pancreas/panel.h5ad",
    "output": "score.h5ad",
}
meta = {"name": "neighbours", "resources_dir": "src/utils"}
## VIASH END

sys.path.append(meta["resources_dir"])
from nearest_cells import N_NEIGHBORS, coordinates
from panel_files import read_cells, read_panel, write_scores


def nearest(values):
    """Return the nearest other cells of every cell."""
    (where,) = coordinates(values)
    finder = NearestNeighbors(n_neighbors=min(N_NEIGHBORS, len(where) - 1)).fit(where)
    return finder.kneighbors(return_distance=False)


cells = read_cells(par["input_solution"])
panel = read_panel(par["input_panel"], cells)

pairs = zip(nearest(cells.X), nearest(cells.X[:, panel.var["selected"].to_numpy()]), strict=True)
kept = np.mean([np.isin(in_all, in_panel).mean() for in_all, in_panel in pairs])
write_scores(par["output"], panel, {"knn_preservation": kept})
