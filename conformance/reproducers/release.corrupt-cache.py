"""A truncated `.meta` file in Warp's kernel cache makes every launch fail with an error about JSON.

Builds a kernel into a cache of its own, truncates the description of the module, and launches again in a new process.
Prints that launch's error; exits with 0 while it speaks of JSON only, with 1 once the module is rebuilt or the error
names the cache.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import warp as wp


@wp.kernel
def one(y: wp.array(dtype=float)):
    y[wp.tid()] = 1.0


def launch() -> str:
    y = wp.zeros(1, dtype=float, device="cpu")
    try:
        wp.launch(one, dim=1, outputs=[y], device="cpu")
    except Exception as problem:  # noqa: BLE001
        return f"{type(problem).__name__}: {problem}"
    return f"values {y.numpy().tolist()}"


if len(sys.argv) > 1:
    Path(sys.argv[1]).write_text(launch())
    sys.exit()

with tempfile.TemporaryDirectory() as folder:
    answer = Path(folder) / "answer"
    cache = Path(folder) / "cache"
    for _ in range(2):
        for description in cache.rglob("*.meta"):
            description.write_bytes(description.read_bytes()[:20])
        environment = {**os.environ, "WARP_CACHE_PATH": str(cache)}
        subprocess.run([sys.executable, __file__, str(answer)], check=True, env=environment, stdout=subprocess.DEVNULL)
    outcome = answer.read_text()
print(f"Warp {wp.__version__}: {outcome}")
sys.exit(0 if outcome.startswith("JSONDecodeError") and "cache" not in outcome else 1)
