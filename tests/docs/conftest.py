from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for the module that these tests share
sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))  # for what writes the pages
