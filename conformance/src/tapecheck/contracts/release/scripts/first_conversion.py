# mypy: ignore-errors
"""Converts a tensor before anything else is asked of Warp, then again once it was started."""

import sound
import torch
import warp as wp


def converted():
    try:
        return f"values {wp.from_torch(torch.ones(2)).numpy().tolist()}"
    except Exception as problem:  # noqa: BLE001
        return f"{type(problem).__name__}: {problem}"


if __name__ == "__main__":
    before = converted()
    wp.init()
    sound.report({"first call": before, "after wp.init()": converted()})
