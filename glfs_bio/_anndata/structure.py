"""The structure of the cells, from the matrix alone or from what is named, kept with the cells."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .. import checks
from ..cells import noise
from ..cells.cells import Cells, build_problems, split
from ..errors import Caution, InvalidValue, Message, naming, warn
from ..selection import Options, criterion_of
from . import read, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anndata import AnnData

    from .._typing import Array, Index, Matrix
    from ..criterion.criterion import Criterion, Target
    from ..data.matrix import RowMatrix

#: Where a structure is kept that was computed on the way of something else.
KEY = "glfs_structure"
#: What is kept of each set of cells beside its rows of ``.obsm`` and columns of ``.varm``.
_NUMBERS = ("assay_noise", "noise_level", "graph_components", "chance")
_ARRAYS = ("stiffness", "variance", "residuals", "units")
#: Rows that are looked at of a matrix that is not in memory and in no file that is known.
_FIRST_ROWS = 20
#: A gene sets no more than this share of the noise of the platform, where there are so many genes:
#: .16 of 33 genes of osmFISH, and .03 of whole transcriptomes.
_MOST, _MANY_GENES = 0.5, 20
#: Variances that are so near to 1 are 1, where so many are.
_ALIKE, _NEARLY_ALL = 0.02, 0.8


@dataclass(frozen=True)
class Parameters:
    """What a structure is computed from, and how: the arguments of ``pp.structure``.

    Attributes
    ----------
    stored_key
        Key of a structure that ``pp.structure`` kept, which has these parameters; None: it is
        looked for under :data:`KEY`.
    """

    layer: str | None = None
    batch_key: str | None = None
    use_rep: str | None = None
    neighbors_key: str | None = None
    n_comps: int | None = 50
    n_neighbors: int | None = None
    lambda1: float = 100.0
    standardize: str | None = "auto"
    random_state: int | None = 0
    stored_key: str | None = None

    def record(self) -> dict[str, Any]:
        """Return the arguments, as ``.uns`` can keep them."""
        values = asdict(self)
        del values["stored_key"]
        return write.parameters(values)

    @classmethod
    def restored(cls, record: Mapping[str, Any], stored_key: str | None = None) -> Parameters:
        """Return the parameters that :meth:`record` wrote."""
        return cls(
            stored_key=stored_key, **{name: write.restored(value) for name, value in record.items()}
        )

    def options(self, **methods: Any) -> Options:
        """Return options of a selection with these parameters, and a method and an objective."""
        return Options(
            lambda1=self.lambda1,
            standardize=self.standardize,
            n_comps=self.n_comps,
            n_neighbors=self.n_neighbors,
            random_state=self.random_state,
            **methods,
        )


@dataclass(frozen=True)
class Structure:
    """The cells in the dimensions of their structure.

    Attributes
    ----------
    sets
        All cells, or each batch.
    rows
        Which cells are in each set.
    parameters
        What it was computed from, and how.
    """

    sets: Sequence[Cells]
    rows: tuple[Index, ...]
    parameters: Parameters

    def criterion(
        self, target: Target | None = None, *, worst: bool = False, efficiency: Array | None = None
    ) -> Criterion:
        """Return F, for a target over all cells."""
        targets = None if target is None else [target.rows(rows) for rows in self.rows]
        return criterion_of(self.sets, targets, worst=worst, efficiency=efficiency)

    def of_all_cells(self, values: list[Array], n_cells: int) -> Array:
        """Return one value a cell, from one array a set of cells; NaN where a cell is in none."""
        every = np.full(n_cells, np.nan)
        for rows, own in zip(self.rows, values, strict=True):
            every[rows] = own
        return every


def parameters_of(adata: AnnData, **given: Any) -> Parameters:
    """Return the parameters that arguments name; `use_rep` may name a structure that is kept.

    Raises
    ------
    InvalidValue
        A structure that is kept, and something else that it has of its own.
    """
    parameters = Parameters(**given)
    checks.texts(or_none=True, use_rep=parameters.use_rep)
    if parameters.use_rep is None or not _is_structure(adata.uns.get(parameters.use_rep)):
        return parameters
    for name in ("layer", "batch_key", "neighbors_key"):
        if getattr(parameters, name) is not None:
            raise InvalidValue(
                name,
                getattr(parameters, name),
                "conflicts with the structure of {arg:use_rep}, which has its own",
                "remove one of the two",
            )
    return Parameters.restored(
        adata.uns[parameters.use_rep]["params"], stored_key=parameters.use_rep
    )


def structure_of(
    adata: AnnData, parameters: Parameters, inputs: read.Inputs | None = None, *, keep: bool = True
) -> Structure:
    """Return the structure with some parameters: the one that is kept, where it fits, or a new one.

    Parameters
    ----------
    adata
        Cells × genes.
    parameters
        What the structure is computed from, and how.
    inputs
        The arrays that they name; None: they are read here.
    keep
        Keep a new one with the cells, under :data:`KEY`.

    Raises
    ------
    KeyError, TypeError, ValueError
        As :func:`~glfs_bio._anndata.read.inputs`; nothing varies; a structure that is named and is
        of another matrix.
    """
    if keep:
        read.writable(adata)
    inputs = read.inputs(adata, parameters) if inputs is None else inputs
    made_of = fingerprints(adata, inputs, parameters)
    key = KEY if parameters.stored_key is None else parameters.stored_key
    entry = adata.uns.get(key)
    fits = _is_structure(entry) and key in adata.obsm and entry["made_of"] == made_of
    if fits and entry["params"] == parameters.record():
        return _stored(adata, key, parameters)
    if parameters.stored_key is not None:
        raise InvalidValue(
            "use_rep",
            parameters.stored_key,
            "is the structure of another matrix, representation or graph",
            "run {call:pp.structure} again",
        )
    structure = compute(adata, inputs, parameters)
    if keep:
        store(adata, structure, made_of, KEY)
    return structure


def compute(adata: AnnData, inputs: read.Inputs, parameters: Parameters) -> Structure:
    """Compute the structure, from what was read."""
    reduction = parameters.options().reduction
    with naming(batch="batch_key"):
        sets = build_problems(
            inputs.data,
            reduction,
            representation=inputs.representation,
            graph=inputs.graph,
            batch=inputs.batch,
        )
    if not (read.looks_like_counts(inputs.data) or read.looks_like_intensities(inputs.data)):
        _warn_of_one_gene(adata, sets)
        _warn_of_scaled(sets, has_raw=adata.raw is not None)
    rows: tuple[Any, ...] = (np.arange(adata.n_obs),)
    if inputs.batch is not None:
        rows = tuple(cells for _, cells in split(inputs.batch, adata.n_obs))
    return Structure([one.without_matrix() for one in sets], rows, parameters)


def _warn_of_scaled(sets: Sequence[Cells], *, has_raw: bool) -> None:
    """Warn where all genes have the variance 1, as ``sc.pp.scale`` leaves them."""
    variance = np.mean([one.variance for one in sets], axis=0)
    varying = variance[variance > 0]
    alike = np.abs(varying - 1.0) < _ALIKE
    if len(varying) >= _MANY_GENES and alike.mean() > _NEARLY_ALL:
        warn(
            Caution(
                "Nearly all genes have variance 1, as after scaling, which hides the "
                "difference between expressed genes and noise. Select before scaling, or name "
                "a log-normalised layer with {arg:layer}{raw}.",
                raw=Message(", such as {arg:layer=raw}" if has_raw else ""),
            )
        )


def _warn_of_one_gene(adata: AnnData, sets: Sequence[Cells]) -> None:
    """Warn where one of many genes varies so much that the others hardly count beside it."""
    if adata.n_vars < _MANY_GENES:
        return
    shares = np.mean([noise.shares_of_assay(one.variance, one.residuals) for one in sets], axis=0)
    if shares.max() > _MOST:
        warn(
            Caution(
                "{gene} varies much more than the other genes and makes {percent:.0f} % of "
                "the assumed noise of the platform: is it in the same unit? Correct its unit, "
                "or remove it from {X}.",
                gene=str(adata.var_names[int(shares.argmax())]),
                percent=100.0 * float(shares.max()),
            )
        )


def store(adata: AnnData, structure: Structure, made_of: Mapping[str, str], key: str) -> None:
    """Write a structure to ``.obsm[key]``, ``.varm[key]`` and ``.uns[key]``."""
    sets = structure.sets
    rank = max(one.basis.shape[1] for one in sets)
    cells = np.zeros((adata.n_obs, rank))
    genes = np.zeros((adata.n_vars, len(sets) * rank))
    number = np.full(adata.n_obs, -1)
    blocks = {}
    for place, (one, rows) in enumerate(zip(sets, structure.rows, strict=True)):
        r = one.basis.shape[1]
        cells[rows, :r] = one.basis
        genes[:, place * rank : place * rank + r] = one.projections
        number[rows] = place
        kept = {name: getattr(one, name) for name in (*_ARRAYS, *_NUMBERS)}
        blocks[str(place)] = {**kept, "rank": r}
    adata.obsm[key] = cells
    adata.varm[key] = genes
    adata.uns[key] = {
        "params": structure.parameters.record(),
        "made_of": dict(made_of),
        "set_of_cell": number,
        "sets": blocks,
    }


def _is_structure(entry: Any) -> bool:
    return isinstance(entry, Mapping) and "set_of_cell" in entry and "made_of" in entry


def _stored(adata: AnnData, key: str, parameters: Parameters) -> Structure:
    entry = adata.uns[key]
    number = np.asarray(entry["set_of_cell"])
    every, projections = np.asarray(adata.obsm[key]), np.asarray(adata.varm[key])
    rank = every.shape[1]
    sets, places = [], []
    for place in range(len(entry["sets"])):
        block, rows = entry["sets"][str(place)], np.flatnonzero(number == place)
        r = int(block["rank"])
        own = Cells(
            basis=np.ascontiguousarray(every[rows, :r]),
            projections=np.ascontiguousarray(projections[:, place * rank : place * rank + r]),
            **{name: np.asarray(block[name]) for name in _ARRAYS},
            assay_noise=float(block["assay_noise"]),
            noise_level=float(block["noise_level"]),
            graph_components=int(block["graph_components"]),
            chance=float(block["chance"]),
        )
        sets.append(own)
        places.append(rows)
    return Structure(sets, tuple(places), parameters)


def fingerprints(adata: AnnData, inputs: read.Inputs, parameters: Parameters) -> dict[str, str]:
    """Return what tells matrix, representation, graph and batches from others: checksums."""
    return {
        "matrix": fingerprint(adata, inputs.data, parameters.layer),
        "representation": of_values(inputs.representation),
        "graph": of_values(inputs.graph),
        "batch": "None"
        if inputs.batch is None
        else _checksum([repr(inputs.batch.tolist()).encode()]),
    }


def fingerprint(adata: AnnData, data: RowMatrix, layer: str | None) -> str:
    """Return what tells the matrix `data` of an object, or its layer, from others: checksums.

    They find every change but one on purpose.
    It is by the values in memory, by the file of a backed object, by dask's name of an array, else
    by the first rows.
    """
    return _checksum([repr((adata.shape, layer)).encode(), *_content(adata, data)])


def of_values(values: Matrix | None) -> str:
    """Return a checksum of numbers in memory; ``"None"`` where there are none."""
    return "None" if values is None else _checksum(_parts(values))


def _content(adata: AnnData, data: RowMatrix) -> list[Any]:
    source = data.source
    if data.in_memory:
        return _parts(source)
    if hasattr(source, "dask"):
        return [str(source.name).encode()]
    if adata.filename is None:
        return [repr(source).encode(), *_parts(data.first(_FIRST_ROWS))]
    about = Path(adata.filename).stat()
    return [repr((str(adata.filename), about.st_mtime_ns, about.st_size)).encode()]


def _parts(values: Matrix) -> list[Any]:
    if sparse.issparse(values):
        return [values.format.encode(), *map(_bytes, (values.data, values.indices, values.indptr))]
    return [repr(values.shape).encode(), _bytes(values)]


def _bytes(values: Array) -> Array:
    """Their bytes, whichever way round they lie."""
    return np.ascontiguousarray(values).ravel().view(np.uint8)


def _checksum(parts: Iterable[Any]) -> str:
    return "-".join(f"{zlib.crc32(part):08x}" for part in parts)
