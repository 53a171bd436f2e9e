from __future__ import annotations

import sys
from pathlib import Path

# The scripts of data/ are no package: they import each other from their own folder.
sys.path.append(str(Path(__file__).parents[2] / "data"))
