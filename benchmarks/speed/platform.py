"""Time of 100 of Kang's 14,053 genes with every constraint, and with draws of a platform.

    python -m benchmarks.speed.platform

Numbers of probes, efficiencies, off-target shares and codewords are drawn at random.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

import glfs_bio

from ..data import KANG, LABEL, prepared, read
from ..tables import parser

N_GENES, N_BITS, ON = 100, 16, 4


def platforms(names: pd.Index) -> dict[str, glfs_bio.Platform]:
    """Return platforms that constrain alike: without draws, with their mean, and the worst."""
    rng = np.random.default_rng(0)
    bits = np.zeros((len(names), N_BITS), dtype=int)
    for word in bits:
        word[rng.choice(N_BITS, ON, replace=False)] = 1
    table = pd.DataFrame(
        {
            "efficiency": np.exp(rng.normal(-1.0, 0.7, len(names))),
            "spread": 0.4,
            "off_target": rng.beta(1, 20, len(names)),
        },
        names,
    )
    alike = {
        "genes": dict(zip(names, rng.integers(0, 30, len(names)).tolist(), strict=True)),
        "min_probes": 5,
        "max_off_target": 0.2,
        "codebook": pd.DataFrame(bits, names),
    }
    return {
        "every constraint": glfs_bio.Platform(efficiency=table.drop(columns="spread"), **alike),
        "and the mean of 20 draws": glfs_bio.Platform(efficiency=table, failure=0.05, **alike),
        "and the worst of 20 draws": glfs_bio.Platform(
            efficiency=table, failure=0.05, case="worst", **alike
        ),
    }


def main() -> None:
    """Select, and print times and bounds."""
    parser(__doc__).parse_args()
    adata = prepared(read(KANG))
    glfs_bio.pp.structure(adata)
    limits = glfs_bio.Limits(
        max_mean_in_type=3.0,
        min_cells_in_type=0.05,
        max_total_per_cell=60.0,
        max_total_per_bit=18.0,
        counts_layer="counts",
        families={"HLA": [name for name in adata.var_names if name.startswith("HLA-")]},
        per_family=3,
        per_type=2,
        groupby=LABEL,
        together=[("CCL5", "CCR1"), ("CXCL10", "CXCR3"), ("TNF", "TNFRSF1B"), ("CCL2", "CCR2")],
        cost=1.0,
        budget=150.0,
    )
    for name, platform in platforms(adata.var_names).items():
        begin, cpu = time.perf_counter(), time.process_time()
        glfs_bio.pp.select_genes(adata, N_GENES, limits=limits, platform=platform)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        entry = adata.uns["glfs"]
        print(
            f"{name}: {seconds:.1f} s, {cpu:.1f} s of a processor; {entry['n_genes']} of "
            f"{adata.n_vars} genes, preserved {entry['preserved'][-1]:.3f}, "
            f"optimality {entry['optimality'][-1]:.3f}"
        )


if __name__ == "__main__":
    main()
