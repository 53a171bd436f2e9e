"""The command line."""

from pipeline.cli.main import main

__all__ = ["main"]
