import anndata as ad
import numpy as np
from sklearn.cluster import KMeans

## VIASH START
par = {
    "input": "resources_test/common/cxg_mouse_pancreas_atlas/dataset.h5ad",
    "input_instrument": None,
    "output_dataset": "dataset.h5ad",
    "output_labelled": "labelled_dataset.h5ad",
    "output_solution": "solution.h5ad",
    "output_instrument": "instrument.h5ad",
    "obs_label": "cell_type",
    "obs_batch": "batch",
    "obs_domain": None,
    "held_out": "random",
    "n_genes": 100,
    "seed": 0,
}
## VIASH END

#: Fewest cells that a gene is on in, and cells of a block of tissue.
FEWEST, BLOCK = 3, 100


def groups(cells):
    """Return what is held out together, for every cell."""
    if par["held_out"] == "batch":
        return cells.obs[par["obs_batch"]].astype(str).to_numpy()
    if par["held_out"] == "blocks":
        where = cells.obsm["spatial"]
        n_blocks = max(2, cells.n_obs // BLOCK)
        return KMeans(n_blocks, n_init=1, random_state=par["seed"]).fit_predict(where)
    return np.arange(cells.n_obs)


def part(cells, columns, uns, *, space=True):
    """Return cells with what a file is to have of them, and nothing else."""
    return ad.AnnData(
        layers={name: cells.layers[name] for name in ("counts", "normalized")},
        obs=cells.obs[list(columns.values())].set_axis(list(columns), axis=1),
        var=cells.var[[]],
        obsm={"spatial": cells.obsm["spatial"]} if space and "spatial" in cells.obsm else {},
        uns=uns,
    )


cells = ad.read_h5ad(par["input"])
instrument = ad.read_h5ad(par["input_instrument"]) if par["input_instrument"] else None
if par["obs_domain"] and par["held_out"] == "random":
    # Neighbours in space share most of their averages: they must not be on both sides.
    raise ValueError("--obs_domain needs --held_out batch or blocks")

print("Hold cells out", flush=True)
group = groups(cells)
names = np.random.default_rng(par["seed"]).permutation(np.unique(group))
if len(names) < 2:
    raise ValueError(f"--held_out {par['held_out']} needs two groups of cells or more")
held_out = np.isin(group, names[: len(names) // 2])

print("Find the genes that can be chosen", flush=True)
n_cells = (cells.layers["counts"][~held_out] > 0).sum(axis=0)
allowed = np.asarray(n_cells).ravel() >= FEWEST
if instrument is not None:
    allowed &= cells.var_names.isin(instrument.var_names)
cells = cells[:, allowed].copy()

print("Write files", flush=True)
batch = {"batch": par["obs_batch"]}
label = {"cell_type": par["obs_label"]}
domain = {"domain": par["obs_domain"]} if par["obs_domain"] else {}
of_dataset = {
    "dataset_id": f"{cells.uns['dataset_id']}_{par['n_genes']}_genes",
    "normalization_id": cells.uns["normalization_id"],
}
asked = of_dataset | {"n_genes": par["n_genes"]}
about = {name: value for name, value in cells.uns.items() if name.startswith("dataset_")}

chosen_from, measured = cells[~held_out], cells[held_out]
part(chosen_from, batch, asked).write_h5ad(par["output_dataset"])
part(chosen_from, batch | label | domain, asked).write_h5ad(par["output_labelled"])
part(measured, batch | label | domain, about | asked).write_h5ad(par["output_solution"])
if instrument is not None:
    shared = instrument.obs[par["obs_label"]].isin(chosen_from.obs[par["obs_label"]].unique())
    instrument = instrument[shared, cells.var_names]
    part(instrument, label, of_dataset, space=False).write_h5ad(par["output_instrument"])
