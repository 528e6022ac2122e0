"""The errors of the package: each names the argument, what was expected, and what came."""


class SphweftError(Exception):
    """Base class of every error that this package raises itself."""


class InputError(SphweftError, ValueError):
    """An argument that cannot be used, found before any kernel is launched.

    Args:
        argument: the argument's name, as the caller wrote it.
        expected: what it must be.
        actual: what it is.
        remedy: what to do about it, where that is not plain.
    """

    def __init__(self, argument: str, expected: str, actual: str, remedy: str = "") -> None:
        self.argument, self.expected, self.actual, self.remedy = argument, expected, actual, remedy
        super().__init__(f"{argument}: expected {expected}, got {actual}" + (f"; {remedy}" if remedy else ""))
