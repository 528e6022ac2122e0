"""Options of `Tape.visualize` that change more than they promise, or nothing.

Plain Warp. Exits with 0 while every one of the four is there, else with 1 and a line for each that is gone.
"""

import sys

import warp as wp


@wp.kernel
def double(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 2.0 * x[i]


@wp.kernel
def triple(a_longer_name: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 3.0 * a_longer_name[i]


def main() -> int:
    x, a, y = (wp.ones(3, dtype=float) for _ in "xay")
    seen = {}

    with wp.Tape() as tape:
        for _ in range(3):
            wp.launch(double, dim=3, inputs=[x], outputs=[y])
    seen["simplify_graph loses the input of a repeated launch"] = 'label="x"' not in tape.visualize()

    with wp.Tape() as tape:
        wp.launch(double, dim=3, inputs=[x, y])
    text = tape.visualize(hide_readonly_arrays=True)
    seen["hide_readonly_arrays hides a written array that came through inputs"] = 'label="y"' not in text

    with wp.Tape() as tape:
        wp.launch(double, dim=3, inputs=[x], outputs=[a])
        wp.launch(double, dim=3, inputs=[a], outputs=[y])
    text = tape.visualize(simplify_graph=False, hide_readonly_arrays=True)
    seen["hide_readonly_arrays draws one of two launches"] = text.count("<b>double</b>") == 1

    with wp.Tape() as tape:
        wp.launch(double, dim=3, inputs=[x], outputs=[a])
        wp.launch(triple, dim=3, inputs=[x], outputs=[y])
    text = tape.visualize(choose_longest_node_name=True)
    seen["choose_longest_node_name keeps the first name"] = 'label="x"' in text

    for what, there in seen.items():
        print(f"{'there' if there else 'gone'}: {what}")
    return 0 if all(seen.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
