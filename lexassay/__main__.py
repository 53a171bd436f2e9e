"""Run the command as ``python -m lexassay``."""

import pipeline.cli.__main__  # noqa: F401
