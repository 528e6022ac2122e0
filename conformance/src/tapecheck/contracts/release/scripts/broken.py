# mypy: ignore-errors
"""A module with a kernel that Warp cannot translate and one that is sound; launches both, and one elsewhere."""

import sound
import warp as wp


@wp.kernel
def broken(y: wp.array(dtype=float)):
    y[wp.tid()] = undefined_function(1.0)  # noqa: F821


@wp.kernel
def neighbour(y: wp.array(dtype=float)):
    y[wp.tid()] = 7.0


if __name__ == "__main__":
    sound.report(
        {
            "broken kernel": [sound.outcome(broken) for _ in range(3)],
            "sound kernel of its module": [sound.outcome(neighbour) for _ in range(2)],
            "kernel of another module": sound.doubled(),
        }
    )
