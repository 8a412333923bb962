import sys

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import StandardScaler

## VIASH START
par = {
    "input_labelled": "resources_test/task_panel_selection/pancreas/labelled_dataset.h5ad",
    "input_instrument": "resources_test/task_panel_selection/pancreas/instrument.h5ad",
    "input_panel": "resources_test/task_panel_selection/pancreas/panel.h5ad",
    "output": "score.h5ad",
}
meta = {"name": "platform_transfer", "resources_dir": "src/utils"}
## VIASH END

sys.path.append(meta["resources_dir"])
from nearest_cells import predicted
from panel_files import read_cells, read_panel, write_scores


def standardised(cells, genes):
    """Return genes with the same mean and spread on every platform."""
    return StandardScaler().fit_transform(cells.X[:, genes].toarray())


known = read_cells(par["input_labelled"])
panel = read_panel(par["input_panel"], known)
genes = panel.var["selected"].to_numpy()

recall = np.nan
if par["input_instrument"]:
    cells = read_cells(par["input_instrument"])
    labels = known.obs["cell_type"].astype(str)
    found = predicted(standardised(known, genes), labels, standardised(cells, genes))
    recall = balanced_accuracy_score(cells.obs["cell_type"].astype(str), found)
write_scores(par["output"], panel, {"transfer_recall": recall})
