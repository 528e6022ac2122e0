"""The example prints what it claims."""

import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_quickstart(tmp_path):
    environment = {**os.environ, "WARP_CACHE_PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "quickstart.py")], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    pairs = re.findall(r": ([\d.]+), analytic ([\d.]+)", done.stdout)
    assert len(pairs) == 3
    for found, analytic in pairs:
        assert abs(float(found) / float(analytic) - 1) < 0.03
