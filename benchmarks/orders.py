"""From raw counts to an order: how many names had to be found, and which genes were replaced.

    python -m benchmarks.orders kang_ifnb13999.h5ad xenium_v1_genes.csv.gz --n-genes 100

The vendor's list is a file of the user's: ``Species,Ensembl ID,Gene symbol``.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import anndata as ad
import scanpy as sc

import glfs_bio
from glfs_bio.vendors.names import FOUND, NOT_FOUND


def main() -> None:
    """Print the run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("counts", type=Path, help="raw counts in X: .h5ad")
    parser.add_argument("genes", type=Path, help="the vendor's list of genes")
    parser.add_argument("--n-genes", type=int, default=100)
    parser.add_argument("--platform", default="xenium_v1")
    parser.add_argument("--min-probes", type=int, default=1)
    parser.add_argument("--exclude", nargs="*", default=["mitochondrial", "ribosomal"])
    asked = parser.parse_args()
    adata = ad.read_h5ad(asked.counts)
    adata.layers["counts"] = adata.X.copy()
    sc.pp.normalize_total(adata)
    sc.pp.log1p(adata)

    names = glfs_bio.tl.resolve_genes(adata, asked.genes, inplace=False)
    counts = names["found"].value_counts()
    print(f"{adata.n_vars} names of the data in {asked.genes.name}:")
    for how, told in (FOUND | NOT_FOUND).items():
        if how in counts:
            some = ", ".join(names["name"][names["found"] == how][:4])
            print(f"  {counts[how]:6} {how:10} {told} ({some})")

    glfs_bio.pp.select_genes(adata, asked.n_genes, exclude=asked.exclude)
    start = time.perf_counter()
    glfs_bio.tl.order_panel(
        adata,
        "glfs",
        asked.platform,
        genes=asked.genes,
        min_probes=asked.min_probes,
        refused="replace",
        counts_layer="counts",
    )
    took = time.perf_counter() - start
    entry = adata.uns["glfs_order"]
    before = float(adata.uns["glfs"]["preserved"][-1])
    after = glfs_bio.tl.explain_panel(adata, list(entry["table"]["name"]), inplace=False)
    print(f"order of {len(entry['table'])} genes, made in {took:.1f} s; preserved {before:.3f} of")
    print(f"the structure before replacements, {after['preserved'].iloc[-1]:.3f} as ordered")
    for check in entry["checks"].itertuples():
        told = f"{check.n} {check.about}" if check.checked else "not checked"
        print(f"  {check.check:10} {told}" + (f": {check.genes}" if check.n else ""))
    for one in entry["replaced"].itertuples():
        print(f"  {one.gene} {one.reason}: {one.substitute} ({one.substitution_score:.2f})")
    with tempfile.TemporaryDirectory() as folder:
        glfs_bio.io.write_order(adata, path := Path(folder) / "order.csv")
        panel = glfs_bio.io.read_panel(path)
        print("\n".join(path.read_text().splitlines()[:4]))
    print(f"read back as a {panel.form}: the same genes, {panel == list(entry['table']['gene'])}")


if __name__ == "__main__":
    main()
