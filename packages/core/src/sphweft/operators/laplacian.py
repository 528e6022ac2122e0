"""Second derivatives: Σ_j of V_j (f_j - f_i) and a form of the kernel that is skipped at r = 0.

naive: the radial Laplacian of W. brookshaw: -2 F with F = ∇W_ij · x_ij / r², which tends to ∇²f (Brookshaw 1985).
dot: F [δ - (d + 2)(δ · n) n], which tends to ∇(∇ · f) (Español & Revenga 2003).
"""

from typing import Any

import warp as wp

from sphweft.bridge.spec import Build, Extras, ExtraSpec, OperatorSpec, OutputSpec, SPHContext, entry_type
from sphweft.enums import GradientScheme, LaplacianScheme
from sphweft.operators.coefficients import coefficient_fields, field_terms
from sphweft.operators.pair_loop import PairTerms, pair_fields, pair_kernels


def _terms(scheme: LaplacianScheme) -> Any:
    form = {
        LaplacianScheme.NAIVE: "laplacian",
        LaplacianScheme.BROOKSHAW: "flux",
        LaplacianScheme.DOT: "projection",
    }[scheme]

    def terms(State: Any, build: Build) -> PairTerms:
        scalar, entry = build.scalar, build.element("values")
        dot, weight = scheme == LaplacianScheme.DOT, scalar(-2.0 if scheme == LaplacianScheme.BROOKSHAW else 1.0)
        geometry = wp.types.matrix((build.dimension,) * 2, scalar) if dot else scalar

        @wp.func
        def product(value: entry, shape: geometry):
            return value * shape if dot else (weight * shape) * value

        return field_terms(State, build, GradientScheme.DIFFERENCE, form, product, entry)

    return terms


def _fields(build: Build) -> tuple[str, ...]:
    return (*pair_fields(build), *coefficient_fields(GradientScheme.DIFFERENCE, build))


def _spec(scheme: LaplacianScheme) -> OperatorSpec:
    vectors = scheme == LaplacianScheme.DOT

    def entry(context: SPHContext, extras: Extras) -> Any:
        trailing = extras["values"].shape[1:]
        if vectors:
            return entry_type(context, (trailing[:-1].numel(), trailing[-1]))
        return entry_type(context, (trailing.numel(),) if trailing else ())

    return OperatorSpec(
        name="laplacian",
        **pair_kernels(_terms(scheme)),
        reads=_fields,
        outputs=(
            OutputSpec(dtype=entry, shape=lambda context, extras: (context.query.count, *extras["values"].shape[1:])),
        ),
        extras=(
            ExtraSpec("values", rows="reference", vectors=vectors),
            ExtraSpec("query_values", rows="query", vectors=vectors),
        ),
    )


LAPLACIANS = {scheme: _spec(scheme) for scheme in LaplacianScheme}
