"""The folder of this user where results lie that can be computed again."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path

import platformdirs

DAYS = 30
"""How long results stay that nobody asks for."""
_SECONDS = 24 * 60 * 60


def folder() -> Path:
    """Return the cache folder of lexassay, as the system has it: ``~/.cache/lexassay`` on Linux."""
    return Path(platformdirs.user_cache_dir("lexassay", appauthor=False))


def tidy(root: Path) -> None:
    """Remove experiments of commands, and their results, that nobody has asked for for long.

    Parameters
    ----------
    root : Path
        The cache folder: for each NAME a folder ``experiments/NAME``, and NAME with their results.
    """
    oldest = time.time() - DAYS * _SECONDS
    for each in (root / "experiments").glob("*"):
        with suppress(OSError):  # somebody else may be tidying, too
            if max(file.stat().st_mtime for file in each.iterdir()) < oldest:
                shutil.rmtree(root / each.name, ignore_errors=True)
                shutil.rmtree(each, ignore_errors=True)
