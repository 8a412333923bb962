"""Cells beside which a cell stands, given some genes: what most metrics ask."""

from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

N_NEIGHBORS = 15
N_COMPS = 50


def coordinates(known, *others):
    """Return cells in the principal components of the known ones, where there are more genes."""
    if known.shape[1] > N_COMPS:
        model = PCA(min(N_COMPS, known.shape[0] - 1), svd_solver="arpack", random_state=0)
        project = model.fit(known).transform
    else:
        project = _dense
    return [project(values) for values in (known, *others)]


def predicted(known, labels, cells):
    """Return the label that most of the 15 nearest known cells have, for every cell."""
    known, cells = coordinates(known, cells)
    model = KNeighborsClassifier(min(N_NEIGHBORS, len(known)))
    return model.fit(known, labels).predict(cells)


def _dense(values):
    return values.toarray() if hasattr(values, "toarray") else values
