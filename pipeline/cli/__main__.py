"""Run the command as ``python -m pipeline.cli``."""

import sys
from pathlib import Path

# -m puts the folder that one stands in first: what lies there, such as polars.py, is not ours.
if not sys.flags.safe_path and Path(sys.path[0]) not in Path(__file__).parents:
    del sys.path[0]

from pipeline.cli.main import script

script()
