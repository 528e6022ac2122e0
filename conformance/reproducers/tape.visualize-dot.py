"""`Tape.visualize` fails on tuples of arguments, and writes quotes and markup in names as they are.

Plain Warp. Exits with 0 while every one of the three is there, else with 1 and a line for each that is gone.
"""

import sys

import warp as wp


@wp.kernel
def double(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 2.0 * x[i]


def main() -> int:
    x, y = wp.ones(3, dtype=float), wp.zeros(3, dtype=float)
    gone = []

    with wp.Tape() as tape:
        wp.launch(double, dim=3, inputs=(x, y))
    try:
        tape.visualize()
        gone.append("a launch with a tuple of inputs is drawn")
    except TypeError as problem:
        print(f"a tuple of inputs: {problem}")

    with wp.Tape() as tape:
        tape.record_scope_begin("a<b")
        wp.launch(double, dim=3, inputs=[x], outputs=[y])
        tape.record_scope_end()
    text = tape.visualize(array_labels={x: 'the "x"'})
    for what, raw in {"a quoted label": 'label="the "x""', "a scope's markup": "<b>a<b</b>"}.items():
        if raw in text:
            print(f"{what}: {raw}")
        else:
            gone.append(f"{what} is escaped")

    for what in gone:
        print(f"gone: {what}")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main())
