"""Faults and near misses of the checks of what the tape keeps, and of whose launches it records."""

import sys
import threading
from collections.abc import Callable
from typing import Any

from tapecheck.faults.planting import with_function, with_tape
from tapecheck.subjects.warp import WarpSubject


def with_arguments(subject: WarpSubject, change: Callable[[list[Any]], Any]) -> WarpSubject:
    """The subject whose tape records `change(inputs)` and `change(outputs)` in the place of what it is given."""

    def record_launch(
        base: Any, self: Any, kernel: Any, dim: Any, max_blocks: int, inputs: Any, outputs: Any, *rest: Any, **more: Any
    ) -> None:
        base.record_launch(self, kernel, dim, max_blocks, change(inputs), change(outputs), *rest, **more)

    return with_tape(subject, record_launch=record_launch)


def keeps_its_own_lists(subject: WarpSubject) -> WarpSubject:
    """The tape copies the lists of arguments."""
    return with_arguments(subject, list)


def keeps_its_own_structs(subject: WarpSubject) -> WarpSubject:
    """The tape copies the structs among the arguments, field by field."""

    def copied(argument: Any) -> Any:
        if not hasattr(argument, "_cls"):
            return argument
        twin = argument._cls()
        for name in argument._cls.vars:
            setattr(twin, name, getattr(argument, name))
        return twin

    return with_arguments(subject, lambda arguments: [copied(argument) for argument in arguments])


def keeps_the_values(subject: WarpSubject) -> WarpSubject:
    """The tape copies the arrays' values when it records, and goes back to them in backward."""

    def copied(argument: Any) -> Any:
        if not hasattr(argument, "grad"):
            return argument
        twin = subject.clone(argument, requires_grad=False)
        twin.grad = argument.grad
        return twin

    return with_arguments(subject, lambda arguments: [copied(argument) for argument in arguments])


def keeps_a_copy_aside(subject: WarpSubject) -> WarpSubject:
    """The tape remembers a copy of the arguments and does not use it."""
    aside = []

    def remembered(arguments: list[Any]) -> list[Any]:
        aside.append([subject.clone(one, requires_grad=False) for one in arguments if hasattr(one, "grad")])
        return arguments

    return with_arguments(subject, remembered)


class Command:
    """A launch object that does what it is told: `launch()` calls the action."""

    def __init__(self, action: Callable[[], Any]) -> None:
        self.launch = action


def with_launch_object(subject: WarpSubject, made: Callable[[Callable[..., Any], Any, Any], Command]) -> WarpSubject:
    """The subject whose `launch(…, record_cmd=True)` gives what `made(launch, args, options)` makes."""

    def launch(original: Any, *args: Any, record_cmd: bool = False, **options: Any) -> Any:
        return made(original, args, options) if record_cmd else original(*args, **options)

    return with_function(subject, "launch", launch)


def records_launch_objects(subject: WarpSubject) -> WarpSubject:
    """A launch object launches as `launch` does, which records it."""
    return with_launch_object(subject, lambda launch, args, options: Command(lambda: launch(*args, **options)))


def warns_of_launch_objects(subject: WarpSubject) -> WarpSubject:
    """A launch object says that no tape sees it."""

    def made(launch: Callable[..., Any], args: Any, options: Any) -> Command:
        command = launch(*args, record_cmd=True, **options)
        return Command(lambda: (sys.stderr.write("not recorded on the tape\n"), command.launch()))

    return with_launch_object(subject, made)


def makes_launch_objects_aside(subject: WarpSubject) -> WarpSubject:
    """A launch object is made anew whenever it is launched."""

    def made(launch: Callable[..., Any], args: Any, options: Any) -> Command:
        return Command(lambda: launch(*args, record_cmd=True, **options).launch())

    return with_launch_object(subject, made)


def records_its_own_thread(subject: WarpSubject) -> WarpSubject:
    """Launches of other threads than the main one are not recorded."""

    def launch(original: Any, *args: Any, **options: Any) -> Any:
        return original(*args, **options, record_tape=threading.current_thread() is threading.main_thread())

    return with_function(subject, "launch", launch)


def enters_on_its_own_thread(subject: WarpSubject) -> WarpSubject:
    """A tape of another thread than the main one is entered whatever the main one does."""

    def elsewhere() -> bool:
        return threading.current_thread() is not threading.main_thread()

    def enter(base: Any, self: Any) -> Any:
        return self if elsewhere() else base.__enter__(self)

    def leave(base: Any, self: Any, *problem: Any) -> None:
        if not elsewhere():
            base.__exit__(self, *problem)

    return with_tape(subject, __enter__=enter, __exit__=leave)


def launches_one_at_a_time(subject: WarpSubject) -> WarpSubject:
    """Launches, and entering a tape, take turns between threads."""
    turn = threading.Lock()

    def launch(original: Any, *args: Any, **options: Any) -> Any:
        with turn:
            return original(*args, **options)

    def enter(base: Any, self: Any) -> Any:
        with turn:
            return base.__enter__(self)

    return with_tape(with_function(subject, "launch", launch), __enter__=enter)


def suspends_the_outer_tape(subject: WarpSubject) -> WarpSubject:
    """Tapes nest: the inner one takes over, the outer one goes on after it."""
    opened: list[Any] = []

    def enter(base: Any, self: Any) -> Any:
        if opened:
            base.__exit__(opened[-1], None, None, None)
        opened.append(self)
        return base.__enter__(self)

    def leave(base: Any, self: Any, *problem: Any) -> None:
        base.__exit__(opened.pop(), *problem)
        if opened:
            base.__enter__(opened[-1])

    return with_tape(subject, __enter__=enter, __exit__=leave)


def keeps_the_outer_tape_open(subject: WarpSubject) -> WarpSubject:
    """A tape that is left by an error stays open."""

    def leave(base: Any, self: Any, *problem: Any) -> None:
        if problem[0] is None:
            base.__exit__(self, *problem)

    return with_tape(subject, __exit__=leave)


def leaves_only_itself(subject: WarpSubject) -> WarpSubject:
    """Leaving a tape that was not entered changes nothing."""
    entered: list[Any] = []

    def enter(base: Any, self: Any) -> Any:
        base.__enter__(self)
        entered.append(self)
        return self

    def leave(base: Any, self: Any, *problem: Any) -> None:
        if self in entered:
            base.__exit__(self, *problem)

    return with_tape(subject, __enter__=enter, __exit__=leave)


def notes_who_enters(subject: WarpSubject) -> WarpSubject:
    """A list remembers who tried to enter."""
    tried: list[Any] = []

    def enter(base: Any, self: Any) -> Any:
        tried.append(self)
        return base.__enter__(self)

    return with_tape(subject, __enter__=enter)


def records_no_adjoint_launch(subject: WarpSubject) -> WarpSubject:
    """Backward launches its adjoints off every tape."""

    def backward(base: Any, self: Any, loss: Any = None, grads: Any = None) -> None:
        for array, gradient in (grads or {}).items():
            array.grad.assign(gradient)
        for kernel, dim, _, inputs, outputs, *_ in reversed(self.launches):
            subject.launch(
                kernel,
                dim=dim,
                inputs=inputs,
                outputs=outputs,
                adj_inputs=[self.get_adjoint(argument) for argument in inputs],
                adj_outputs=[self.get_adjoint(argument) for argument in outputs],
                adjoint=True,
                record_tape=False,
            )

    return with_tape(subject, backward=backward)


def runs_recorded_functions_off_tape(subject: WarpSubject) -> WarpSubject:
    """What a recorded function launches in backward is not recorded."""
    running = threading.local()

    def record_func(base: Any, self: Any, backward: Callable[[], Any], arrays: Any) -> None:
        def off_tape() -> None:
            running.function = True
            backward()
            running.function = False

        base.record_func(self, off_tape, arrays)

    def launch(original: Any, *args: Any, **options: Any) -> Any:
        return original(*args, **options, record_tape=not getattr(running, "function", False))

    return with_tape(with_function(subject, "launch", launch), record_func=record_func)


def walks_a_copied_list(subject: WarpSubject) -> WarpSubject:
    """Backward walks a copy of the list of launches."""

    def backward(base: Any, self: Any, *args: Any, **options: Any) -> None:
        self.launches = list(self.launches)
        base.backward(self, *args, **options)

    return with_tape(subject, backward=backward)
