"""Write ``glfs_bio/blood.h5ad``, the reference without cells of ``glfs_bio.datasets.blood``.

python tools/blood.py COUNTS

COUNTS is an h5ad of the PBMC 3k of 10x Genomics: counts, with types of the cells in ``label``.
"""

import sys
from pathlib import Path

import numpy as np
import scanpy as sc

import glfs_bio
from glfs_bio._anndata import results
from glfs_bio._anndata.structure import KEY, without_cells

#: Cells that express a gene, at least; binary digits that are kept of numbers, and of
#: coordinates of a gene below its largest.  Shares of random panels change by .001 at most.
CELLS, DIGITS = 30, 7


def rounded(value: object) -> object:
    """Return numbers in single precision with few digits, which a file keeps in less room."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    is_large = isinstance(value, np.ndarray) and value.size > 1000
    return with_digits(value, np.frexp(value)[1]) if is_large else value


def with_digits(values: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return numbers as multiples of so small a share of powers of two."""
    whole = np.round(np.ldexp(values, DIGITS - exponents))
    return np.ldexp(whole, exponents - DIGITS).astype(np.float32)


def main() -> None:
    """Read, compute, write."""
    adata = sc.read_h5ad(sys.argv[1])
    adata.obs = adata.obs[["label"]].rename(columns={"label": "type"})
    sc.pp.filter_genes(adata, min_cells=CELLS)
    adata.var = adata.var[[]]
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    glfs_bio.pp.structure(adata, labels="type")
    blood = without_cells(adata, KEY)
    largest = np.abs(blood.varm[KEY]).max(axis=1, keepdims=True)
    genes = with_digits(blood.varm[KEY], np.frexp(largest)[1])
    entry = rounded(dict(blood.uns[KEY]))
    results.store(blood, KEY, entry, obsm={KEY: blood.obsm[KEY]}, varm={KEY: genes})
    path = Path(glfs_bio.__file__).parent / "blood.h5ad"
    blood.write_h5ad(path, compression="gzip", compression_opts=9)
    sys.stdout.write(f"{path}: {path.stat().st_size / 1e6:.2f} MB, {blood.n_vars} genes\n")


if __name__ == "__main__":
    main()
