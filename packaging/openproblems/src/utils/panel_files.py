"""Cells, panels and scores in files, as `src/api` describes them."""

import anndata as ad

#: What every file brings along from the dataset.
CARRIED = ("dataset_id", "normalization_id")


def read_cells(path):
    """Return cells with their normalised expression as the matrix."""
    cells = ad.read_h5ad(path)
    cells.X = cells.layers["normalized"]
    return cells


def write_panel(path, cells, genes, method_id):
    """Write which genes of the dataset are in a panel."""
    panel = ad.AnnData(var=cells.var[[]].assign(selected=cells.var_names.isin(genes)))
    panel.uns = {name: cells.uns[name] for name in CARRIED} | {"method_id": method_id}
    panel.write_h5ad(path, compression="gzip")


def read_panel(path, cells):
    """Return a panel; a method must not take more genes than it was asked for.

    All genes, the control, are no panel.
    """
    panel = ad.read_h5ad(path)
    if not panel.var_names.equals(cells.var_names):
        raise ValueError(f"{path} has other genes than the dataset, or another order of them")
    n_genes, most = panel.var["selected"].sum(), cells.uns["n_genes"]
    if not 0 < n_genes <= most and n_genes < panel.n_vars:
        raise ValueError(f"{path} has {n_genes} genes of at most {most}")
    return panel


def write_scores(path, panel, scores):
    """Write the values of metrics by their identifiers."""
    uns = {name: panel.uns[name] for name in (*CARRIED, "method_id")}
    uns |= {"metric_ids": list(scores), "metric_values": [float(one) for one in scores.values()]}
    ad.AnnData(uns=uns).write_h5ad(path, compression="gzip")
