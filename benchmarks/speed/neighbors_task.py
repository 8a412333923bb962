"""One library finds neighbours twice: python neighbors_task.py LIBRARY CELLS FOUND SETTINGS.

It prints the seconds of the processor that the calls took, and how many bytes are installed.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import files
from pathlib import Path

import numpy as np


def glfs_bio(cells: np.ndarray, k: int) -> np.ndarray:
    """Nearest clusters, by this package."""
    from glfs_bio.cells.neighbors import distances

    return distances(cells, k, 0).indices.reshape(len(cells), k)


def faiss(cells: np.ndarray, k: int, lists: int, probed: int) -> np.ndarray:
    """Inverted file."""
    import faiss

    coarse = faiss.IndexFlatL2(cells.shape[1])
    index = faiss.IndexIVFFlat(coarse, cells.shape[1], lists)
    index.train(cells)
    index.add(cells)
    index.nprobe = probed
    return index.search(cells, k + 1)[1]


def usearch(cells: np.ndarray, k: int, M: int, ef: int) -> np.ndarray:
    """Navigable small worlds."""
    from usearch.index import Index

    index = Index(
        ndim=cells.shape[1],
        metric="l2sq",
        dtype="f32",
        connectivity=M,
        expansion_add=ef,
        expansion_search=ef,
    )
    index.add(np.arange(len(cells)), cells, threads=1)
    return index.search(cells, k + 1, threads=1).keys.astype(int)


def hnswlib(cells: np.ndarray, k: int, M: int, ef: int) -> np.ndarray:
    """Navigable small worlds."""
    import hnswlib

    index = hnswlib.Index("l2", cells.shape[1])
    index.init_index(len(cells), M=M, ef_construction=ef)
    index.set_num_threads(1)
    index.add_items(cells)
    index.set_ef(ef)
    return index.knn_query(cells, k + 1)[0].astype(int)


def pynndescent(cells: np.ndarray, k: int, trees: int) -> np.ndarray:
    """Nearest-neighbour descent."""
    from pynndescent import NNDescent

    index = NNDescent(
        cells,
        n_neighbors=k + 1,
        n_trees=trees,
        random_state=np.random.RandomState(0),
        n_jobs=1,
        compressed=False,
    )
    return index.neighbor_graph[0]


PACKAGES = {"faiss": "faiss-cpu"}

library, source, target, settings = sys.argv[1:]
places, seconds = np.load(source), []
for _ in range(2):
    begin = time.process_time()
    found = globals()[library](places, **json.loads(settings))
    seconds.append(time.process_time() - begin)
if found.shape[1] > json.loads(settings)["k"]:  # the cell itself is among them
    itself = found == np.arange(len(places))[:, None]
    itself[~itself.any(axis=1), -1] = True
    found = found[~itself].reshape(len(places), -1)
np.save(target, found)
sizes = 0
if library != "glfs_bio":
    parts = [part.locate() for part in files(PACKAGES.get(library, library))]
    sizes = sum(Path(part).stat().st_size for part in parts if Path(part).exists())
print(json.dumps({"first": seconds[0], "second": seconds[1], "bytes": sizes}))
