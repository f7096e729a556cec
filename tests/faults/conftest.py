from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS.parent / "benchmarks"))  # the campaign is one of them
sys.path.insert(0, str(TESTS / "kernels"))
