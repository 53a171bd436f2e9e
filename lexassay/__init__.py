"""Evaluate lexical resources from a small annotated sample.

``import lexassay as lx``: `score` a table, list the `measures`, `run` an experiment and look at its
tables and charts, plan a sample. All names are those of the package `pipeline`, which is loaded
when they are first used.

Many projects have a module called ``pipeline`` or ``schemas`` of their own. After
``import lexassay`` these two names always mean lexassay's packages, even if modules of these names
are in the folder of the script or notebook, or first on the module path. If another one has been
loaded before, the import fails and names its file.

Examples
--------
>>> import lexassay as lx
>>> counts = {"l1": ["kick"], "l2": ["bucket"], "f": [8], "f1": [20], "f2": [15], "N": [1000]}
>>> import polars as pl
>>> lx.score(pl.DataFrame(counts), measures=["t_score"])["t_score"].round(3).item()
2.722
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from types import ModuleType

    __version__: str
    from pipeline import *  # noqa: F403  the names that pipeline hands out are its __all__

_BESIDE = Path(__file__).absolute().parent.parent
"""The folder of this package: the other two lie in it."""
_OWN = ("pipeline", "schemas")


class _Own:
    """Finds lexassay's packages before anything else of these names."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where such a package lies; None for all other modules."""
        own = name in _OWN and path is None
        return PathFinder.find_spec(name, [str(_BESIDE)], target) if own else None


def _refuse_others() -> None:
    """Refuse to go on where a module of the same name is in use already."""
    for name in _OWN:
        if name not in sys.modules:
            continue
        own, file = _BESIDE / name / "__init__.py", getattr(sys.modules[name], "__file__", None)
        if file is None or Path(file).resolve() != own.resolve():
            where = file or "a folder without __init__.py"
            raise ImportError(
                f"lexassay needs its own module {name!r}, but another one is loaded already:"
                f" {where}. Start anew and import lexassay first, or rename that file.",
                name=name,
                path=file,
            )


_refuse_others()
sys.meta_path.insert(0, _Own)

import pipeline  # noqa: E402  its own, by what stands above

__all__ = pipeline.__all__


if not TYPE_CHECKING:  # so that a wrong name is found before it is run

    def __getattr__(name: str) -> Any:
        try:
            return getattr(pipeline, name)
        except AttributeError:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return [*__all__, "__all__", "__doc__", "__file__", "__name__", "__version__"]


def script() -> NoReturn:
    """Run the command ``lexassay``."""
    from pipeline.cli.main import script as command  # noqa: PLC0415  a notebook does not need it

    command()
