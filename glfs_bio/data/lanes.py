"""Sums of several numbers at once, which stay in registers where numba compiles a loop.

The compiler cannot know that rows of two arrays are apart.  It would write sums to memory after
every few products, and ask before whether that changes what is read next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, models, register_model, type_callable

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from .._typing import Array

#: Numbers that are added up at once.
LANES = 16
#: Bytes of a line of a cache: what begins with one is read in as few as can be.
_LINE = 64


def in_lines(n_rows: int, n_columns: int, dtype: DTypeLike) -> Array:
    """Place for a matrix, with columns up to a multiple of :data:`LANES`, from a line of cache."""
    shape = n_rows, -(-n_columns // LANES) * LANES
    n_bytes = shape[0] * shape[1] * np.dtype(dtype).itemsize
    place = np.empty(n_bytes + _LINE, dtype=np.uint8)
    begin = -place.ctypes.data % _LINE
    return place[begin : begin + n_bytes].view(dtype).reshape(shape)


def one(like: Array) -> Any:
    """As many zeros as there are lanes, of the precision of an array."""
    return np.zeros(LANES, like.dtype)


def three(like: Array) -> Any:
    """Three times as many."""
    return np.zeros(3 * LANES, like.dtype)


def plus(sums: Any, weight: Any, block: Array, begin: int) -> Any:
    """`sums`, and `weight` times as many numbers of a contiguous `block` from `begin` on."""
    return sums + sums.dtype.type(weight) * block.ravel()[begin : begin + len(sums)]


def together(sums: Any, others: Any) -> Any:
    """Both added up."""
    return sums + others


def put(sums: Any, product: Array, begin: int) -> None:
    """Write sums to a contiguous `product` from `begin` on."""
    product.ravel()[begin : begin + len(sums)] = sums


class _Sums(types.Type):
    """So many times :data:`LANES` numbers."""

    def __init__(self, of: types.Type, times: int) -> None:
        self.of, self.times = of, times
        super().__init__(f"{times} x {LANES} x {of}")


@register_model(_Sums)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, sums: _Sums) -> None:
        lanes = ir.VectorType(manager.lookup(sums.of).get_value_type(), LANES)
        super().__init__(manager, sums, ir.ArrayType(lanes, sums.times))


type_callable(one)(lambda context: lambda like: _Sums(like.dtype, 1))
type_callable(three)(lambda context: lambda like: _Sums(like.dtype, 3))
type_callable(plus)(lambda context: lambda sums, weight, block, begin: sums)
type_callable(together)(lambda context: lambda sums, others: sums)
type_callable(put)(lambda context: lambda sums, product, begin: types.void)


@lower_builtin(one, types.Array)
@lower_builtin(three, types.Array)
def _zeros(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return ir.Constant(context.get_value_type(signature.return_type), None)


@lower_builtin(plus, _Sums, types.Any, types.Array, types.Integer)
def _plus(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, of_weight, of_block, _ = signature.args
    sums, weight, block, begin = arguments
    lanes = context.get_value_type(kind).element
    weight = context.cast(builder, weight, of_weight, kind.of)
    none, first = ir.Constant(lanes, ir.Undefined), ir.Constant(ir.IntType(32), 0)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
    weights = builder.shuffle_vector(builder.insert_element(none, weight, first), none, everywhere)
    stored = ir.VectorType(context.get_value_type(of_block.dtype), LANES)
    places = _places(context, builder, of_block, block, begin, stored, kind.times)
    for number, place in enumerate(places):
        values = builder.load(place, align=of_block.dtype.bitwidth // 8)
        if of_block.dtype != kind.of:
            values = builder.fpext(values, lanes)
        more = builder.fmul(weights, values, flags=("contract",))
        before = builder.extract_value(sums, number)
        sums = builder.insert_value(sums, builder.fadd(before, more, flags=("contract",)), number)
    return sums


@lower_builtin(together, _Sums, _Sums)
def _together(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    sums, others = arguments
    for number in range(signature.return_type.times):
        left, right = (builder.extract_value(some, number) for some in (sums, others))
        sums = builder.insert_value(sums, builder.fadd(left, right), number)
    return sums


@lower_builtin(put, _Sums, types.Array, types.Integer)
def _put(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, of_product, _ = signature.args
    sums, product, begin = arguments
    lanes = context.get_value_type(kind).element
    places = _places(context, builder, of_product, product, begin, lanes, kind.times)
    for number, place in enumerate(places):
        builder.store(builder.extract_value(sums, number), place, align=kind.of.bitwidth // 8)
    return context.get_dummy_value()


def _places(
    context: Any, builder: Any, kind: Any, array: Any, begin: Any, lanes: Any, times: int
) -> list[Any]:
    """Pointers to successive lanes of an array."""
    data = context.make_array(kind)(context, builder, array).data
    first = builder.bitcast(builder.gep(data, [begin]), lanes.as_pointer())
    return [builder.gep(first, [ir.Constant(ir.IntType(64), number)]) for number in range(times)]
