import sys

## VIASH START
par = {
    "input": "resources_test/task_panel_selection/pancreas/dataset.h5ad",
    "output": "panel.h5ad",
}
meta = {"name": "all_genes", "resources_dir": "src/utils"}
## VIASH END

sys.path.append(meta["resources_dir"])
from panel_files import read_cells, write_panel

cells = read_cells(par["input"])
write_panel(par["output"], cells, cells.var_names, meta["name"])
