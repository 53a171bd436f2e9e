"""Named things that packages can add: stages, measures, formats, report views.

Another package adds its own by an entry point of the group ``lexassay`` that names a module;
importing that module registers what it defines, exactly as the project's own modules do::

    [project.entry-points.lexassay]
    anything = "my_package.my_measures"
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from pipeline.errors import ConfigError, Problem, did_you_mean

GROUP = "lexassay"

T = TypeVar("T")


class Registry(Generic[T]):
    """A name -> thing table that fills itself on first use.

    Parameters
    ----------
    kind : str
        What it holds, for messages: "measure", "stage" ...
    package : str
        The package whose modules register the built-in ones when imported.

    Examples
    --------
    >>> shapes = Registry[int]("shape", "pipeline.kernels")
    >>> shapes.add("square", 4, "example")
    >>> shapes.get("square")
    4
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self._package = package
        self._things: dict[str, T] = {}
        self._origin: dict[str, str] = {}

    def add(self, name: str, thing: T, module: str) -> None:
        """Register `thing` under `name`; a second module may not take the same name.

        Raises
        ------
        ConfigError
            If another module has registered the name.
        """
        holder = self._origin.get(name, module)
        if holder != module:
            what = f"{self.kind} {name!r} is registered by {holder} and by {module}"
            raise ConfigError("registry", [Problem(name, what, "rename one of them")])
        self._things[name] = thing
        self._origin[name] = module

    def get(self, name: str) -> T:
        """Return the thing of this name.

        Raises
        ------
        KeyError
            With the nearest valid names in its message.
        """
        self._fill()
        if name not in self._things:
            remedy = did_you_mean(name, self._things)
            raise KeyError(f"unknown {self.kind} {name!r}; {remedy}")
        return self._things[name]

    def module(self, name: str) -> str:
        """Return the module that registered `name`."""
        self.get(name)
        return self._origin[name]

    def __contains__(self, name: str) -> bool:
        self._fill()
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        self._fill()
        return iter(sorted(self._things))

    def _fill(self) -> None:
        import_all(self._package)
        import_plugins()


@cache
def import_all(package: str) -> None:
    """Import every module of `package`, so that each registers what it defines."""
    root = importlib.import_module(package)
    for module in pkgutil.walk_packages(root.__path__, f"{package}."):
        importlib.import_module(module.name)


@cache
def import_plugins() -> None:
    """Import the modules that installed packages offer by entry point.

    Raises
    ------
    ConfigError
        If one of them cannot be imported; the message names its package.
    """
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            point.load()
        except Exception as error:
            what = f"the extension cannot be imported: {type(error).__name__}: {error}"
            where = f"entry point {point.name} = {point.value}"
            raise ConfigError(_distribution(point), [Problem(where, what)]) from error


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an installed package"
