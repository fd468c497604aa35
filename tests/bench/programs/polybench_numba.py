"""A kernel of PolyBench, its loops as written there, compiled whole by numba; see tests/bench/polybench.py.

DLB_BENCH=K python tests/bench/programs/polybench_numba.py KERNEL [SIZES]
"""

import importlib
import sys
from pathlib import Path

import numba

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "polybench"))

from harness import run

if __name__ == "__main__":
    module = importlib.import_module(sys.argv.pop(1))
    run(numba.njit(getattr(module, "original", module.kernel)), module.initial, module.SIZES)
