import sys

import glfs_bio

## VIASH START
par = {
    "input": "resources_test/task_panel_selection/pancreas/labelled_dataset.h5ad",
    "output": "panel.h5ad",
}
meta = {"name": "glfs_bio_labels", "resources_dir": "src/utils"}
## VIASH END

sys.path.append(meta["resources_dir"])
from panel_files import read_cells, write_panel

cells = read_cells(par["input"])
n_genes = min(int(cells.uns["n_genes"]), cells.n_vars)
table = glfs_bio.pp.select_genes(cells, n_genes, preserve="cell_type", inplace=False)
write_panel(par["output"], cells, table.index[table["glfs_selected"]], meta["name"])
