# mypy: ignore-errors
"""A module with a kernel that the compiler rejects; launches it, and one elsewhere."""

import sound
import warp as wp


@wp.func_native("this is not C++;")
def native(x: float) -> float: ...


@wp.kernel
def broken(y: wp.array(dtype=float)):
    y[wp.tid()] = native(1.0)


if __name__ == "__main__":
    sound.report(
        {"broken kernel": [sound.outcome(broken) for _ in range(3)], "kernel of another module": sound.doubled()}
    )
