import sys

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.utils.sparsefuncs import mean_variance_axis

## VIASH START
par = {
    "input_labelled": "resources_test/task_panel_selection/pancreas/labelled_dataset.h5ad",
    "input_solution": "resources_test/task_panel_selection/pancreas/solution.h5ad",
    "input_panel": "resources_test/task_panel_selection/pancreas/panel.h5ad",
    "output": "score.h5ad",
}
meta = {"name": "imputation", "resources_dir": "src/utils"}
## VIASH END

sys.path.append(meta["resources_dir"])
from panel_files import read_cells, read_panel, write_scores

#: Most genes that are imputed.
IMPUTED = 1000

known, cells = read_cells(par["input_labelled"]), read_cells(par["input_solution"])
panel = read_panel(par["input_panel"], cells)
genes = panel.var["selected"].to_numpy()

_, spread = mean_variance_axis(known.X, axis=0)
others = np.flatnonzero(~genes)
others = others[np.argsort(-spread[others], kind="stable")[:IMPUTED]]
r2 = 1.0  # a panel of all genes leaves none to impute
if len(others):
    fitted, tested = known.X[:, genes].toarray(), cells.X[:, genes].toarray()
    model = Ridge().fit(fitted, known.X[:, others].toarray())
    r2 = r2_score(cells.X[:, others].toarray(), model.predict(tested))
write_scores(par["output"], panel, {"imputation_r2": r2})
