"""Faults and near misses of the checks of the flag itself."""

from collections.abc import Callable
from typing import Any

from tapecheck.faults.planting import with_function
from tapecheck.faults.retain_grad.replay import OUTPUTS, Entries, arrays_of, with_replay
from tapecheck.subjects.warp import WarpSubject

LIKE = ("zeros_like", "ones_like", "empty_like", "full_like", "clone")
CONSTRUCTORS = ("array", "zeros", "ones", "empty", "full", *LIKE, "from_numpy", "from_torch")


def _with_functions(subject: WarpSubject, names: tuple[str, ...], function: Callable[..., Any]) -> WarpSubject:
    for name in names:
        subject = with_function(subject, name, function)
    return subject


def _of_class(array: Any, **members: Any) -> Any:
    """The array, made one of a subclass with these members."""
    array.__class__ = type("Array", (type(array),), members)
    return array


def constructors_drop_the_flag(subject: WarpSubject) -> WarpSubject:
    """Every constructor and conversion takes `retain_grad` and forgets it."""

    def construct(original: Any, *args: Any, retain_grad: bool = False, **options: Any) -> Any:
        return original(*args, **options)

    return _with_functions(subject, CONSTRUCTORS, construct)


def constructors_set_the_flag_later(subject: WarpSubject) -> WarpSubject:
    """Every constructor and conversion makes the array first and sets its `retain_grad` then."""

    def construct(original: Any, *args: Any, retain_grad: bool = False, **options: Any) -> Any:
        array = original(*args, **options)
        array.retain_grad = retain_grad
        return array

    return _with_functions(subject, CONSTRUCTORS, construct)


def zeros_adds_the_gradient(subject: WarpSubject) -> WarpSubject:
    """`zeros` adds a gradient where only `retain_grad` is asked for."""

    def zeros(original: Any, *args: Any, retain_grad: bool = False, **options: Any) -> Any:
        return original(*args, **{**options, "requires_grad": retain_grad, "retain_grad": retain_grad})

    return with_function(subject, "zeros", zeros)


def descriptors_carry_the_flag(subject: WarpSubject) -> WarpSubject:
    """`from_torch` passes `retain_grad` on to a descriptor, too."""

    def from_torch(original: Any, tensor: Any, **options: Any) -> Any:
        view = original(tensor, **options)
        if options.get("return_ctype") and options.get("retain_grad"):
            view.flags |= 1
        return view

    return with_function(subject, "from_torch", from_torch)


def from_torch_with_everything_spelt_out(subject: WarpSubject) -> WarpSubject:
    """`from_torch` is called with its defaults written out."""

    def from_torch(original: Any, tensor: Any, **options: Any) -> Any:
        return original(tensor, **{"dtype": None, "grad": None, **options})

    return with_function(subject, "from_torch", from_torch)


def the_flag_is_a_plain_attribute(subject: WarpSubject) -> WarpSubject:
    """Arrays take the assignment of `retain_grad` as they take that of any name, and nothing comes of it."""

    def construct(original: Any, *args: Any, **options: Any) -> Any:
        return _of_class(original(*args, **options), retain_grad=False)

    return _with_functions(subject, ("zeros", "from_torch"), construct)


def the_flag_is_a_property_of_a_subclass(subject: WarpSubject) -> WarpSubject:
    """Arrays are of a subclass whose `retain_grad` passes everything on."""
    flag = subject.array.retain_grad

    def construct(original: Any, *args: Any, **options: Any) -> Any:
        return _of_class(original(*args, **options), retain_grad=property(flag.fget, flag.fset))

    return _with_functions(subject, ("zeros", "from_torch"), construct)


def everything_inherits(subject: WarpSubject) -> WarpSubject:
    """What is derived from a `retain_grad` array has the flag as well."""

    def inheriting(original: Any, source: Any, *args: Any, **options: Any) -> Any:
        derived = original(source, *args, **options)
        derived.retain_grad = getattr(source, "retain_grad", False)
        return derived

    def method(name: str) -> Callable[..., Any]:
        return lambda self, *args: inheriting(getattr(subject.array, name), self, *args)

    def zeros(original: Any, *args: Any, **options: Any) -> Any:
        names = ("__getitem__", "reshape", "flatten", "transpose", "view")
        return _of_class(original(*args, **options), **{name: method(name) for name in names})

    return _with_functions(with_function(subject, "zeros", zeros), ("array", *LIKE), inheriting)


def retained_gradients_are_put_back(subject: WarpSubject) -> WarpSubject:
    """Backward ends with the gradients of `retain_grad` outputs as they were, whatever views a kernel wrote through."""

    def rewrite(entries: Entries) -> Entries:
        kept: dict[Any, Any] = {}

        def keep() -> None:
            kept.update(
                {array: subject.clone(array.grad) for array in arrays_of(entries, OUTPUTS) if array.retain_grad}
            )

        def put_back() -> None:
            for array, gradient in kept.items():
                array.grad.assign(gradient)

        return [put_back, *entries, keep]

    return with_replay(subject, rewrite)


def structs_are_refilled_before_a_launch(subject: WarpSubject) -> WarpSubject:
    """A launch assigns the fields of its structs once more."""

    def refill(struct: Any) -> None:
        struct.y = struct.y

    return _before_a_launch(subject, refill)


def structs_are_read_before_a_launch(subject: WarpSubject) -> WarpSubject:
    """A launch reads the fields of its structs first."""
    return _before_a_launch(subject, lambda struct: struct.y)


def _before_a_launch(subject: WarpSubject, visit: Callable[[Any], Any]) -> WarpSubject:
    def launch(original: Any, *args: Any, inputs: Any, **options: Any) -> Any:
        for value in inputs:
            if hasattr(value, "y"):
                visit(value)
        return original(*args, inputs=inputs, **options)

    return with_function(subject, "launch", launch)
