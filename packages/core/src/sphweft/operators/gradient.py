"""Gradient, divergence and curl: Σ_j of c_ij and ∇_i W_ij, by their outer, inner and vector product (Price 2012)."""

from collections.abc import Callable
from typing import Any

import warp as wp

from sphweft.bridge.spec import Build, Extras, ExtraSpec, OperatorSpec, OutputSpec, SPHContext, entry_type
from sphweft.operators.coefficients import coefficient_fields, field_terms
from sphweft.operators.pair_loop import PairTerms, pair_fields, pair_kernels
from sphweft.runtime import element_type


def _gradient_terms(State: Any, build: Build) -> PairTerms:
    scalar, vector, entry = build.scalar, build.vector, build.element("values")
    width = 0 if entry is scalar else entry._length_

    @wp.func
    def product(value: entry, slope: vector):
        return wp.outer(value, slope) if width else value * slope

    result = element_type(scalar, (width, build.dimension) if width else (build.dimension,))
    return field_terms(State, build, build.gradient_scheme, "gradient", product, result)


def _divergence_terms(State: Any, build: Build) -> PairTerms:
    vector, entry = build.vector, build.element("values")

    @wp.func
    def product(value: entry, slope: vector):
        return value * slope

    result = element_type(build.scalar, entry._shape_[:1])
    return field_terms(State, build, build.gradient_scheme, "gradient", product, result)


def _curl_terms(State: Any, build: Build) -> PairTerms:
    """In three dimensions ∇W × c, in two ∂_x W c_y - ∂_y W c_x."""
    scalar, vector, entry, zero = build.scalar, build.vector, build.element("values"), build.scalar(0.0)
    in_space, matrix = build.dimension == 3, wp.types.matrix((3, 3), build.scalar)

    @wp.func
    def product(value: entry, slope: vector):
        if in_space:
            x, y, z = slope[0], slope[1], slope[2]
            turned = value * matrix(zero, z, -y, -z, zero, x, y, -x, zero)
        else:
            turned = value * vector(-slope[1], slope[0])
        return turned

    rows = entry._shape_[:1]
    result = element_type(scalar, (*rows, 3) if in_space else rows)
    return field_terms(State, build, build.gradient_scheme, "gradient", product, result)


def _fields(build: Build) -> tuple[str, ...]:
    return (*pair_fields(build), *coefficient_fields(build.gradient_scheme, build))


def _spec(
    name: str,
    terms: Callable[[Any, Build], PairTerms],
    shape: Callable[[tuple[int, ...], int], tuple[int, ...]],
    vectors: bool,
) -> OperatorSpec:
    """The operator whose output has this shape, of the field's trailing axes and the dimension, a query."""

    def whole(context: SPHContext, extras: Extras) -> tuple[int, ...]:
        return (context.query.count, *shape(tuple(extras["values"].shape[1:]), context.query.dimension))

    def entry(context: SPHContext, extras: Extras) -> Any:
        dimension, trailing = context.query.dimension, extras["values"].shape[1:]
        if vectors:
            rows = (trailing[:-1].numel(),)
            return entry_type(context, rows if name == "divergence" or dimension == 2 else (*rows, 3))
        return entry_type(context, (trailing.numel(), dimension) if trailing else (dimension,))

    return OperatorSpec(
        name=name,
        **pair_kernels(terms),
        reads=_fields,
        outputs=(OutputSpec(dtype=entry, shape=whole),),
        extras=(
            ExtraSpec("values", rows="reference", vectors=vectors),
            ExtraSpec("query_values", rows="query", vectors=vectors),
        ),
    )


GRADIENT = _spec("gradient", _gradient_terms, lambda field, d: (*field, d), vectors=False)
DIVERGENCE = _spec("divergence", _divergence_terms, lambda field, d: field[:-1], vectors=True)
CURL = _spec("curl", _curl_terms, lambda field, d: field[:-1] if d == 2 else (*field[:-1], 3), vectors=True)
