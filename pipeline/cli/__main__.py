"""Run the command as ``python -m pipeline.cli``."""

import sys
from pathlib import Path

# -m puts the working folder first on the path: a file polars.py there must not be imported.
if not sys.flags.safe_path and Path(sys.path[0]) not in Path(__file__).parents:
    del sys.path[0]

from pipeline.cli.main import script

script()
