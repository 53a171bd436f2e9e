"""What installed packages offer by entry points: modules that register, and things by name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pipeline.errors import ConfigError, Problem

GROUP = "lexassay"


@cache
def import_plugins() -> None:
    """Import the modules that installed packages offer by entry point.

    Raises
    ------
    ConfigError
        If one of them cannot be imported; the message names its package.
    """
    for point in _points(GROUP):
        _load(point)


def offered(group: str) -> Iterator[tuple[str, Any, str]]:
    """Yield what installed packages offer in a group: name, function or class, its module.

    Parameters
    ----------
    group : str
        Of entry points, each the name of one thing, such as ``lexassay.engines``.

    Raises
    ------
    ConfigError
        If one cannot be imported, or is neither function nor class; the message names its package.
    """
    for point in _points(group):
        thing = _load(point)
        if not callable(thing):
            what = f"stands for {type(thing).__name__}, no function or class"
            remedy = f'write {point.name} = "module:name" in [project.entry-points."{group}"]'
            raise ConfigError(_distribution(point), [Problem(_place(point), what, remedy)])
        yield point.name, thing, getattr(thing, "__module__", point.module)


def _points(group: str) -> list[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda point: point.name)


def _load(point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:
        what = f"the extension cannot be imported: {type(error).__name__}: {error}"
        raise ConfigError(_distribution(point), [Problem(_place(point), what)]) from error


def _place(point: EntryPoint) -> str:
    return f"entry point {point.name} = {point.value}"


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an installed package"
