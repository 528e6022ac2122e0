"""What a tensor and its array share: memory, the gradient, and no version counter."""

from collections.abc import Callable
from typing import Any

from tapecheck.contract import Evidence, check
from tapecheck.contracts.interop import kernels
from tapecheck.contracts.interop.tensors import tensor, torch_of
from tapecheck.faults.interop import sharing as faults
from tapecheck.subjects.warp import WarpSubject


def pair_from_torch(wp: WarpSubject) -> tuple[Any, Any]:
    source = tensor(wp, [1.0, 2.0, 3.0])
    return source, wp.from_torch(source)


def pair_to_torch(wp: WarpSubject) -> tuple[Any, Any]:
    source = wp.array([1.0, 2.0, 3.0], dtype=float)
    return wp.to_torch(source), source


def seen_on_both_sides(wp: WarpSubject, tensor: Any, array: Any) -> Evidence:
    """Writes to the tensor, then by a kernel to the array; what the other side sees."""
    observed = {"address shared": array.ptr == tensor.data_ptr()}
    tensor.fill_(5.0)
    observed["array after the tensor's write"] = array.numpy().tolist()
    wp.launch(kernels.double_in_place, dim=3, inputs=[array])
    observed["tensor after the kernel's write"] = tensor
    expected = {
        "address shared": True,
        "array after the tensor's write": [5.0] * 3,
        "tensor after the kernel's write": [10.0] * 3,
    }
    return Evidence(observed, expected)


@check(
    "interop.zero-copy",
    case="from_torch",
    needs=(":torch",),
    faults=[faults.from_torch_copies],
    near_misses=[faults.from_torch_of_a_view],
)
def from_torch_shares(wp: WarpSubject) -> Evidence:
    return seen_on_both_sides(wp, *pair_from_torch(wp))


@check(
    "interop.zero-copy",
    case="to_torch",
    needs=(":torch",),
    faults=[faults.to_torch_copies],
    near_misses=[faults.to_torch_of_a_view],
)
def to_torch_shares(wp: WarpSubject) -> Evidence:
    return seen_on_both_sides(wp, *pair_to_torch(wp))


@check(
    "interop.zero-copy",
    case="round-trip",
    needs=(":torch",),
    faults=[faults.from_torch_copies, faults.to_torch_copies],
    near_misses=[faults.from_torch_of_a_view, faults.to_torch_of_a_view],
)
def round_trip_shares(wp: WarpSubject) -> Evidence:
    source, array = pair_from_torch(wp)
    back = wp.to_torch(array)
    source.fill_(4.0)
    return Evidence({"tensor that came back": back}, {"tensor that came back": [4.0] * 3})


@check(
    "interop.zero-copy",
    case="array-outlived",
    needs=(":torch",),
    faults=[faults.to_torch_leaves_the_memory_to_the_array],
    near_misses=[faults.to_torch_of_a_view],
)
def to_torch_keeps_memory(wp: WarpSubject) -> Evidence:
    converted = wp.to_torch(wp.full(1000, 7.0, dtype=float))
    _reused = [wp.zeros(1000, dtype=float) for _ in range(8)]
    return Evidence({"values, array gone": converted.unique()}, {"values, array gone": [7.0]})


FLAGS = {
    "tensor without, no argument": (False, None),
    "tensor without, argument True": (False, True),
    "tensor with, no argument": (True, None),
    "tensor with, argument False": (True, False),
}


@check(
    "interop.requires-grad",
    case="flag",
    needs=(":torch",),
    faults=[faults.from_torch_of_detached],
    near_misses=[faults.from_torch_names_the_flag],
)
def flag_follows(wp: WarpSubject) -> Evidence:
    def flag(of_tensor: bool, argument: bool | None) -> bool:
        source = tensor(wp, [1.0, 2.0], requires_grad=of_tensor)
        return bool(wp.from_torch(source, requires_grad=argument).requires_grad)

    return Evidence(
        observed={name: flag(*combination) for name, combination in FLAGS.items()},
        expected=dict(zip(FLAGS, (False, True, True, False), strict=True)),
    )


def with_gradient(wp: WarpSubject) -> Any:
    """A leaf with a gradient in place."""
    leaf = tensor(wp, [1.0, 2.0, 3.0], requires_grad=True)
    leaf.grad = tensor(wp, [10.0, 20.0, 30.0])
    return leaf


@check(
    "interop.requires-grad",
    case="gradient",
    needs=(":torch",),
    faults=[faults.from_torch_with_a_gradient_of_its_own],
    near_misses=[faults.from_torch_names_the_flag],
)
def gradient_shared(wp: WarpSubject) -> Evidence:
    leaf = with_gradient(wp)
    x, y = wp.from_torch(leaf), wp.zeros(3, dtype=float, requires_grad=True)
    shared = x.grad.ptr == leaf.grad.data_ptr()
    with wp.Tape() as tape:
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y])
    tape.backward(grads={y: wp.ones(3, dtype=float)})
    return Evidence(
        observed={"gradient shared": shared, "leaf.grad": leaf.grad},
        expected={"gradient shared": True, "leaf.grad": [12.0, 24.0, 36.0]},
    )


@check(
    "interop.requires-grad",
    case="descriptor",
    needs=(":torch",),
    faults=[faults.from_torch_with_a_gradient_of_its_own],
    near_misses=[faults.from_torch_names_the_flag],
)
def gradient_of_a_descriptor(wp: WarpSubject) -> Evidence:
    leaf = with_gradient(wp)
    descriptor = wp.from_torch(leaf, return_ctype=True)
    return Evidence(
        observed={"data": descriptor.data == leaf.data_ptr(), "gradient": descriptor.grad == leaf.grad.data_ptr()},
        expected={"data": True, "gradient": True},
    )


@check(
    "interop.requires-grad",
    cases={"given-tensor": False, "given-array": True},
    needs=(":torch",),
    faults=[faults.from_torch_with_a_gradient_of_its_own],
    near_misses=[faults.from_torch_names_the_flag],
)
def given_gradient(wp: WarpSubject, as_array: bool) -> Evidence:
    leaf, given = with_gradient(wp), tensor(wp, [0.0, 0.0, 0.0])
    x = wp.from_torch(leaf, grad=wp.from_torch(given) if as_array else given)
    x.grad.fill_(4.0)
    return Evidence(
        observed={"given": given, "leaf.grad": leaf.grad},
        expected={"given": [4.0] * 3, "leaf.grad": [10.0, 20.0, 30.0]},
    )


@check(
    "interop.requires-grad",
    case="to_torch",
    needs=(":torch",),
    faults=[faults.to_torch_copies],
    near_misses=[faults.to_torch_of_a_view],
)
def gradient_to_torch(wp: WarpSubject) -> Evidence:
    x = wp.ones(3, dtype=float, requires_grad=True)
    converted, plain = wp.to_torch(x), wp.to_torch(x, requires_grad=False)
    x.grad.fill_(4.0)
    return Evidence(
        observed={
            "requires_grad": converted.requires_grad,
            "tensor.grad": converted.grad,
            "requires_grad, argument False": plain.requires_grad,
        },
        expected={"requires_grad": True, "tensor.grad": [4.0] * 3, "requires_grad, argument False": False},
    )


def differentiated_twice(wp: WarpSubject, leaf: Any, converted: Any) -> dict[str, Any]:
    """The leaf's gradient after its conversion, after Warp's backward of x² and after torch's."""
    y = wp.zeros(3, dtype=float, requires_grad=True)
    x = wp.from_torch(converted, requires_grad=True)
    stages = {"conversion": None if leaf.grad is None else leaf.grad.tolist()}
    with wp.Tape() as tape:
        wp.launch(kernels.square, dim=3, inputs=[x], outputs=[y])
    tape.backward(grads={y: wp.ones(3, dtype=float)})
    stages["Warp's backward"] = None if leaf.grad is None else leaf.grad.tolist()
    (leaf * leaf).sum().backward()
    stages["torch's backward"] = leaf.grad.tolist()
    return {f"leaf.grad after {stage}": gradient for stage, gradient in stages.items()}


@check(
    "interop.leaf-side-effect",
    case="leaf",
    needs=(":torch",),
    faults=[faults.from_torch_of_detached],
    near_misses=[faults.from_torch_names_the_flag],
)
def leaf_gets_a_gradient(wp: WarpSubject) -> Evidence:
    leaf = tensor(wp, [3.0] * 3, requires_grad=True)
    return Evidence(
        observed=differentiated_twice(wp, leaf, leaf),
        expected={
            "leaf.grad after conversion": [0.0] * 3,
            "leaf.grad after Warp's backward": [6.0] * 3,
            "leaf.grad after torch's backward": [12.0] * 3,
        },
    )


@check(
    "interop.leaf-side-effect",
    case="detached",
    safe=True,
    needs=(":torch",),
    faults=[faults.detach_returns_the_tensor_itself],
    near_misses=[faults.from_torch_names_the_flag],
)
def detached_leaf_gets_none(wp: WarpSubject) -> Evidence:
    leaf = tensor(wp, [3.0] * 3, requires_grad=True)
    return Evidence(
        observed=differentiated_twice(wp, leaf, torch_of(wp).Tensor.detach(leaf)),
        expected={
            "leaf.grad after conversion": None,
            "leaf.grad after Warp's backward": None,
            "leaf.grad after torch's backward": [6.0] * 3,
        },
    )


WRITERS: dict[str, Callable[[WarpSubject, Any], None]] = {
    "launch": lambda wp, x: wp.launch(kernels.double_in_place, dim=3, inputs=[x]),
    "copy": lambda wp, x: wp.copy(x, wp.full(3, 6.0, dtype=float)),
}


@check(
    "interop.version-counter",
    cases=WRITERS,
    needs=(":torch",),
    faults=[faults.writes_move_the_version],
    near_misses=[faults.from_torch_of_a_view],
)
def version_unmoved(wp: WarpSubject, write: Callable[[WarpSubject, Any], None]) -> Evidence:
    weight, saved = tensor(wp, [1.0] * 3, requires_grad=True), tensor(wp, [3.0] * 3)
    before = saved._version
    product = (weight * saved).sum()
    write(wp, wp.from_torch(saved))
    try:
        product.backward()
        gradient = weight.grad
    except RuntimeError as problem:
        gradient = str(problem)
    return Evidence(
        observed={"tensor": saved, "moved by": saved._version - before, "weight.grad, 3 is right": gradient},
        expected={"tensor": [6.0] * 3, "moved by": 0, "weight.grad, 3 is right": [6.0] * 3},
    )
