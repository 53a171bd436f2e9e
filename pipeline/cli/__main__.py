"""Run the command as ``python -m pipeline.cli``."""

from pipeline.cli.main import script

script()
