import sys

import numpy as np
from sklearn.metrics import accuracy_score, f1_score

## VIASH START
par = {
    "input_labelled": "resources_test/task_panel_selection/pancreas/labelled_dataset.h5ad",
    "input_solution": "resources_test/task_panel_selection/pancreas/solution.h5ad",
    "input_panel": "resources_test/task_panel_selection/pancreas/panel.h5ad",
    "output": "score.h5ad",
}
meta = {"name": "label_prediction", "resources_dir": "src/utils"}
## VIASH END

sys.path.append(meta["resources_dir"])
from nearest_cells import predicted
from panel_files import read_cells, read_panel, write_scores

#: A rare type has at most this share of the held-out cells.
RARE = 0.05

known, cells = read_cells(par["input_labelled"]), read_cells(par["input_solution"])
panel = read_panel(par["input_panel"], cells)
genes = panel.var["selected"].to_numpy()

labels = cells.obs["cell_type"].astype(str)
found = predicted(known.X[:, genes], known.obs["cell_type"].astype(str), cells.X[:, genes])
shares = labels.value_counts(normalize=True)
rare = np.intersect1d(shares.index[shares <= RARE], known.obs["cell_type"].astype(str))
rare_f1 = np.nan
if len(rare):
    rare_f1 = f1_score(labels, found, labels=rare, average="macro", zero_division=0)
scores = {"label_accuracy": accuracy_score(labels, found), "rare_type_f1": rare_f1}
write_scores(par["output"], panel, scores)
