"""A new objective and a new ranker: a class, and a line in a registry; or an instance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import anndata as ad
import numpy as np
import pytest
from refusals import accepted, refused

from glfs_bio import GLFS
from glfs_bio._anndata.results import request_of
from glfs_bio.errors import InvalidValue
from glfs_bio.glfs2014 import Exact
from glfs_bio.options import Request
from glfs_bio.pp import select_genes
from glfs_bio.selection import best_panel, rank_genes
from glfs_bio.solvers.panel import METHODS, OBJECTIVES, Method, by_value


@dataclass(frozen=True)
class Loudest(Method):
    """A ranker: variance to a power."""

    power: float = 1.0

    name = "loudest"
    title = "Variance to a power"

    def solve(self, problem):
        values = sum(cells.variance for cells in problem.sets) ** self.power
        return by_value(values, problem, power=self.power)


class Flat(Exact):
    """An objective of the paper's form, without the graph's prior."""

    name = "flat"

    @staticmethod
    def diagonals(m):
        return np.ones_like(m), np.ones_like(m)


@dataclass(frozen=True)
class Patient(Method):
    """An objective that needs the criterion for panels."""

    least: int = 2

    name = "patient"
    chooses_size = True
    by_criterion = True

    def solve(self, problem):
        return best_panel(replace(problem, n_genes=problem.n_genes or self.least))


def test_a_ranker_by_instance(clusters):
    ranking = rank_genes(clusters, Request.of(5, method=Loudest(2.0)))
    np.testing.assert_allclose(ranking.weights, clusters.var(axis=0) ** 2, rtol=1e-9)
    assert ranking.info["method"] == "loudest"
    assert ranking.info["power"] == 2.0
    assert len(ranking.preserved) == 5
    with refused(InvalidValue, "n_genes"):
        rank_genes(clusters, Request.of(None, method=Loudest()))


def test_a_ranker_by_name(pbmc, monkeypatch, tmp_path):
    monkeypatch.setitem(METHODS, "loudest", Loudest())
    select_genes(pbmc, 10, method=Loudest(power=0.5))
    first = pbmc.var["glfs_score"].copy()
    assert pbmc.uns["glfs"]["params"]["method"] == {"name": "loudest", "power": 0.5}
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    again = ad.read_h5ad(tmp_path / "cells.h5ad")
    request = request_of(again, "glfs")
    assert request.method == Loudest(power=0.5)
    select_genes(again, **request.arguments())
    np.testing.assert_array_equal(again.var["glfs_score"], first)


@pytest.mark.parametrize("objective", [Flat(tol=1e-3), Patient(4)])
def test_an_objective_by_instance(pbmc, clusters, objective):
    select_genes(pbmc, 5, objective=objective)
    assert pbmc.uns["glfs"]["objective"] == objective.name
    assert pbmc.var["glfs_selected"].sum() == 5
    model = GLFS(3, objective=objective).fit(clusters)
    assert set(model.get_support(indices=True)) <= set(range(6))


def test_an_objective_by_name(pbmc, clusters, monkeypatch):
    for toy in (Flat, Patient):
        monkeypatch.setitem(OBJECTIVES, toy.name, toy())
        select_genes(pbmc, 6, objective=toy.name)
        named = pbmc.var["glfs_score"].copy()
        select_genes(pbmc, **request_of(pbmc, "glfs").arguments())
        np.testing.assert_array_equal(pbmc.var["glfs_score"], named)
    assert GLFS(objective="patient").fit(clusters).n_selected_ == 2
    select_genes(pbmc, 6)
    np.testing.assert_array_equal(pbmc.var["glfs_score"], named)


def test_the_criterion_takes_what_others_refuse(clusters):
    chosen = GLFS(3, preserve="labels", objective=Patient()).fit(clusters, np.arange(90) // 30)
    assert chosen.get_support().sum() == 3
    with refused(InvalidValue, "preserve"):
        GLFS(3, preserve="labels", objective=Flat()).fit(clusters, np.arange(90) // 30)


def test_unknown_names(clusters):
    for argument in ("method", "objective"):

        def rank(value, argument=argument):
            rank_genes(clusters, Request.of(5, **{argument: value}))

        assert accepted(rank, ["toy", 5, Loudest], argument) == []
