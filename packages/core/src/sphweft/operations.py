"""The public operators: one entry, and a named function each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

import torch

from sphweft.bridge.operator import launch_operator, launch_tangent
from sphweft.bridge.spec import NO_CORRECTIONS, OperatorSpec, SPHContext
from sphweft.enums import GradientScheme, Operation
from sphweft.errors import InputError, of_type, tensor_of
from sphweft.neighbors.adjacency import AdjacencyList
from sphweft.neighbors.search import hash_grid
from sphweft.operators.covariance import COVARIANCE
from sphweft.operators.density import DENSITY, SLOPES
from sphweft.operators.gradient import CURL, DIVERGENCE, GRADIENT
from sphweft.operators.interpolate import INTERPOLATE
from sphweft.operators.laplacian import LAPLACIANS
from sphweft.state import Corrections, DomainDescription, OperationProperties, ParticleState, ParticleTangents
from sphweft.transforms import outside_transforms
from sphweft.validation import check_values

if TYPE_CHECKING:
    from typing_extensions import Unpack

Validate = Literal["metadata", "full"]

_SPECS = {
    Operation.DENSITY: DENSITY,
    Operation.INTERPOLATE: INTERPOLATE,
    Operation.GRADIENT: GRADIENT,
    Operation.DIVERGENCE: DIVERGENCE,
    Operation.CURL: CURL,
    Operation.COVARIANCE: COVARIANCE,
}
_FIELDLESS = (Operation.DENSITY, Operation.COVARIANCE)
_BY_SCHEME = (Operation.GRADIENT, Operation.DIVERGENCE, Operation.CURL)
_DEFAULTS = OperationProperties()
_STILL = ParticleTangents()


class State(TypedDict, total=False):
    """The state of a call beside its particles and its list."""

    reference: ParticleState | None
    domain: DomainDescription | None
    properties: OperationProperties
    corrections: Corrections


def warp_operation(
    operation: Operation,
    query: ParticleState,
    adjacency: AdjacencyList | None = None,
    *,
    values: torch.Tensor | None = None,
    query_values: torch.Tensor | None = None,
    reference: ParticleState | None = None,
    domain: DomainDescription | None = None,
    properties: OperationProperties = _DEFAULTS,
    corrections: Corrections = NO_CORRECTIONS,
    validate: Validate = "metadata",
) -> Any:
    """A sum over neighbours, differentiable with respect to every floating tensor.

    Args:
        operation: which sum.
        query: the N particles that receive.
        adjacency: for every query the references that may be near it; left out, the call searches itself.
        values: the field f at the references, shape (M, *field), any rank; density and covariance read none. Of
            divergence, curl and the *dot* Laplacian the last axis is a vector of d components.
        query_values: the field at the queries, shape (N, *field); left out, `values`, where the populations are one.
        reference: the particles that contribute; left out, the query particles themselves.
        domain: the periodic box; left out, space is unbounded.
        properties: smoothing function, support mode, scheme, direction.
        corrections: supplied volumes.
        validate: `"metadata"` checks shapes, dtypes and devices; `"full"` reads the values as well: NaN, supports that
            are not positive, kinds outside 0 to 3, a support beyond half a periodic side.

    Returns:
        Density: shape (N,). Interpolate, laplacian: (N, *field). Gradient: (N, *field, d), derivative axis last.
        Divergence: (N, *field[:-1]). Curl: (N, *field[:-1], 3) in three dimensions, (N, *field[:-1]) in two.
        Covariance: (N, d, d), and the number of pairs in support, int32, shape (N,).

    Raises:
        InputError: naming the argument, before anything is launched.
    """
    state = (reference, domain, properties, corrections)
    spec, context, fields = _call(operation, query, adjacency, values, query_values, validate, *state)
    return launch_operator(spec, context, **fields)


def _call(
    operation: Operation,
    query: ParticleState,
    adjacency: AdjacencyList | None,
    values: torch.Tensor | None,
    query_values: torch.Tensor | None,
    validate: Validate,
    reference: ParticleState | None = None,
    domain: DomainDescription | None = None,
    properties: OperationProperties = _DEFAULTS,
    corrections: Corrections = NO_CORRECTIONS,
) -> tuple[OperatorSpec, SPHContext, dict[str, torch.Tensor]]:
    """The operator, its context and its fields, checked."""
    of_type("operation", operation, Operation)
    context = _context(query, adjacency, reference, domain, properties, corrections)
    fields = {}
    if operation is Operation.CURL and query.dimension == 1:
        raise InputError("query.positions", "two or three dimensions, where there is a curl", "one dimension")
    if operation in _FIELDLESS:
        if values is not None or query_values is not None:
            name, given = ("values", values) if values is not None else ("query_values", query_values)
            word = operation.name.lower()
            raise InputError(name, f"nothing, since {word} sums no field", type(given).__name__)
    else:
        fields["values"] = _field("values", values)
        if operation is not Operation.INTERPOLATE:
            naive = context.properties.gradient_scheme is GradientScheme.NAIVE and operation in _BY_SCHEME
            fields["query_values"] = _query_field(context, fields["values"], query_values, unread=naive)
        elif query_values is not None:
            raise InputError("query_values", "nothing, since interpolation reads the references alone", "a tensor")
    if validate == "full":
        check_values(context, fields)
    elif validate != "metadata":
        raise InputError("validate", "'metadata' or 'full'", repr(validate))
    return _SPECS.get(operation) or LAPLACIANS[context.properties.laplacian_scheme], context, fields


def _context(
    query: ParticleState,
    adjacency: AdjacencyList | None,
    reference: ParticleState | None,
    domain: DomainDescription | None,
    properties: OperationProperties,
    corrections: Corrections,
) -> SPHContext:
    """A call's context; without a list the references are sorted into cells."""
    grid, source = None, query if reference is None else reference
    if adjacency is None:
        of_type("query", query, ParticleState)
        of_type("reference", source, ParticleState)
        if query.count and source.count:
            grid = hash_grid(query, source, domain, properties)
        else:
            with outside_transforms():
                adjacency = AdjacencyList.empty(query.count, source.count, query.positions.device)
    else:
        of_type("adjacency", adjacency, AdjacencyList)
    return SPHContext(query, properties, domain, adjacency, grid, reference, corrections)


def _check_vectors(name: str, vectors: torch.Tensor, particles: ParticleState) -> None:
    positions = particles.positions
    if tensor_of(name, vectors, (positions.dtype,), str(tuple(positions.shape))).shape != positions.shape:
        raise InputError(
            name, f"shape {tuple(positions.shape)}, that of the positions", f"shape {tuple(vectors.shape)}"
        )


def _field(name: str, value: torch.Tensor | None) -> torch.Tensor:
    if not isinstance(value, torch.Tensor):
        raise InputError(name, "a tensor of shape (n, *field)", "nothing" if value is None else type(value).__name__)
    return value


def _query_field(
    context: SPHContext, values: torch.Tensor, query_values: torch.Tensor | None, unread: bool
) -> torch.Tensor:
    """The query side of a field that enters on both sides."""
    if query_values is None:
        if context.reference is None:
            return values
        if unread:
            return values.new_zeros((context.query.count, *values.shape[1:]))
    query_values = _field("query_values", query_values)
    if query_values.shape[1:] != values.shape[1:]:
        expected = f"trailing axes {tuple(values.shape[1:])}, as values"
        raise InputError("query_values", expected, f"{tuple(query_values.shape[1:])}")
    return query_values


def warp_operation_jvp(
    operation: Operation,
    query: ParticleState,
    adjacency: AdjacencyList | None = None,
    *,
    query_tangents: ParticleTangents = _STILL,
    reference_tangents: ParticleTangents | None = None,
    values_tangent: torch.Tensor | None = None,
    query_values_tangent: torch.Tensor | None = None,
    reference_volumes_tangent: torch.Tensor | None = None,
    values: torch.Tensor | None = None,
    query_values: torch.Tensor | None = None,
    validate: Validate = "metadata",
    **options: Unpack[State],
) -> torch.Tensor:
    """The directional derivative J v of an operator, itself differentiable once, by its tensors and by its tangents.

    What is not given does not vary; a tangent of what the operator does not read changes nothing. Dual tensors
    (`torch.autograd.forward_ad`, `torch.func.jvp`) give the same, to the bit.

    Args:
        operation: which sum.
        query: the N particles that receive.
        adjacency: for every query the references that may be near it; left out, the call searches itself.
        query_tangents: how the query particles vary; in both roles, where the populations are one.
        reference_tangents: how the references vary; left out, not at all, or as the queries, where they are these.
        values_tangent: shape of `values`.
        query_values_tangent: shape of `query_values`; left out, `values_tangent`, where the field is one.
        reference_volumes_tangent: shape (M,).
        values: as for `warp_operation`, and so the others.
        query_values: the field at the queries.
        validate: `"metadata"` or `"full"`.
        **options: reference, domain, properties, corrections.

    Returns:
        A tensor of the operator's shape.

    Raises:
        InputError: naming the argument, before anything is launched.
    """
    spec, context, fields = _call(operation, query, adjacency, values, query_values, validate, **options)
    if context.reference is None:
        if reference_tangents is not None:
            raise InputError("reference_tangents", "nothing, since the populations are one", "tangents")
        reference_tangents = query_tangents
    if query_values_tangent is None and fields.get("query_values") is fields.get("values"):
        query_values_tangent = values_tangent
    given = {
        "values": values_tangent,
        "query_values": query_values_tangent,
        "reference_volumes": reference_volumes_tangent,
    }
    tangents = {name: tangent for name, tangent in given.items() if tangent is not None}
    tangents |= query_tangents.by_field("query") | (reference_tangents or _STILL).by_field("reference")
    return launch_tangent(spec, context, tangents, **fields)  # type: ignore[no-any-return]


def warp_operation_hvp(
    query: ParticleState,
    adjacency: AdjacencyList | None,
    query_vectors: torch.Tensor,
    *,
    reference_vectors: torch.Tensor | None = None,
    validate: Validate = "metadata",
    **options: Unpack[State],
) -> torch.Tensor:
    """The position Hessian of the density times a vector: Σ_j m_j H_ij (v_i - u_j), H_ij the Hessian of W_ij.

    It is the derivative of the query-role gradient of ρ_i. In one population a particle's pair with itself is left out,
    whatever the vectors; in two populations every pair counts.

    Args:
        query: the N particles that receive.
        adjacency: for every query the references that may be near it; left out, the call searches itself.
        query_vectors: v, shape (N, d).
        reference_vectors: u, shape (M, d); left out, v where the populations are one, else zero.
        validate: `"metadata"` or `"full"`.
        **options: reference, domain, properties.

    Returns:
        Shape (N, d).

    Raises:
        InputError: naming the argument, before anything is launched.
    """
    _, context, _ = _call(Operation.DENSITY, query, adjacency, None, None, validate, **options)
    one = context.reference is None
    _check_vectors("query_vectors", query_vectors, query)
    if reference_vectors is not None:
        _check_vectors("reference_vectors", reference_vectors, context.source)
    u = query_vectors if reference_vectors is None and one else reference_vectors
    tangents = {"query_positions": query_vectors} | ({} if u is None else {"reference_positions": u})
    return launch_tangent(SLOPES[one], context, tangents)  # type: ignore[no-any-return]


class Options(State, total=False):
    """The arguments of `warp_operation` that each named operator takes as well."""

    validate: Validate


def density(query: ParticleState, adjacency: AdjacencyList | None = None, **options: Unpack[Options]) -> torch.Tensor:
    """ρ_i = Σ_j m_j W_ij [mass over volume], shape (N,) (Price 2012). Arguments and errors as `warp_operation`'s."""
    return warp_operation(Operation.DENSITY, query, adjacency, **options)  # type: ignore[no-any-return]


def interpolate(
    query: ParticleState, values: torch.Tensor, adjacency: AdjacencyList | None = None, **options: Unpack[Options]
) -> torch.Tensor:
    """⟨f⟩_i = Σ_j V_j f_j W_ij, shape (N, *field) (Price 2012). Arguments and errors as `warp_operation`'s."""
    return warp_operation(  # type: ignore[no-any-return]
        Operation.INTERPOLATE, query, adjacency, values=values, **options
    )


class TwoSided(Options, total=False):
    """The arguments of operators on a field that enters on both sides."""

    query_values: torch.Tensor | None


def gradient(
    query: ParticleState, values: torch.Tensor, adjacency: AdjacencyList | None = None, **options: Unpack[TwoSided]
) -> torch.Tensor:
    """(∇f)_i = Σ_j c_ij ⊗ ∇_i W_ij, shape (N, *field, d) (Price 2012). Arguments and errors as `warp_operation`'s."""
    return _on_field(Operation.GRADIENT, query, values, adjacency, options)


def divergence(
    query: ParticleState, values: torch.Tensor, adjacency: AdjacencyList | None = None, **options: Unpack[TwoSided]
) -> torch.Tensor:
    """(∇ · f)_i = Σ_j c_ij · ∇_i W_ij over the last axis of the field, shape (N, *field[:-1]) (Price 2012).

    Arguments and errors as `warp_operation`'s.
    """
    return _on_field(Operation.DIVERGENCE, query, values, adjacency, options)


def curl(
    query: ParticleState, values: torch.Tensor, adjacency: AdjacencyList | None = None, **options: Unpack[TwoSided]
) -> torch.Tensor:
    """(∇ × f)_i = Σ_j ∇_i W_ij × c_ij over the last axis of the field (Price 2012).

    Shape (N, *field[:-1], 3) in three dimensions; in two (N, *field[:-1]), the component out of the plane. Arguments
    and errors as `warp_operation`'s.
    """
    return _on_field(Operation.CURL, query, values, adjacency, options)


def laplacian(
    query: ParticleState, values: torch.Tensor, adjacency: AdjacencyList | None = None, **options: Unpack[TwoSided]
) -> torch.Tensor:
    """Second derivatives of a field, shape (N, *field), by the scheme in `properties.laplacian_scheme`.

    *naive* and *brookshaw* tend to ∇²f (Brookshaw 1985), *dot* to ∇(∇ · f) (Español & Revenga 2003). Arguments and
    errors as `warp_operation`'s.
    """
    return _on_field(Operation.LAPLACIAN, query, values, adjacency, options)


def covariance(
    query: ParticleState, adjacency: AdjacencyList | None = None, **options: Unpack[Options]
) -> tuple[torch.Tensor, torch.Tensor]:
    """C_i = -Σ_j V_j x_ij ⊗ ∇_i W_ij, shape (N, d, d), and the number of pairs in support, int32, shape (N,).

    Source: Bonet & Lok 1999. Arguments and errors as `warp_operation`'s.
    """
    return warp_operation(Operation.COVARIANCE, query, adjacency, **options)  # type: ignore[no-any-return]


def _on_field(
    operation: Operation, query: ParticleState, values: torch.Tensor, adjacency: AdjacencyList | None, options: TwoSided
) -> torch.Tensor:
    return warp_operation(operation, query, adjacency, values=values, **options)  # type: ignore[no-any-return]
