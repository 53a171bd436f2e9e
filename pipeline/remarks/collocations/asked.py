"""Which values of attributes the options of an extraction ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel

_EQUALS = re.compile(r"""(\w+)\s*=\s*'([^']*)'""")
_AMONG = re.compile(r"""(\w+)\s+IN\s*\(([^)]*)\)""", re.IGNORECASE)
_QUOTED = re.compile(r"'([^']*)'")


class Asked(NamedTuple):
    """A value of an attribute, and the option that asks for it."""

    option: str
    attribute: str
    value: str


def asked(config: Any, place: str = "") -> Iterator[Asked]:
    """Yield the values that conditions compare attributes with, and the labels of relations.

    Conditions are looked at as text: what is not of the form ``upos = 'NOUN'`` or ``upos IN
    ('NOUN', 'PROPN')`` is passed over, since a remark may miss something but not invent it.

    Examples
    --------
    >>> from pipeline.remarks.collocations.asked import in_condition
    >>> [value for _, value in in_condition("upos IN ('NOUN', 'ADJ') AND lemma = 'old'")]
    ['old', 'NOUN', 'ADJ']
    """
    for name, value in _fields(config):
        option = f"{place}.{name}" if place else name
        if name == "label" and place == "dependency":
            labels = [value] if isinstance(value, str) else value
            yield from (Asked(option, "deprel", label) for label in labels)
        elif isinstance(value, str) and name in {"where", "through"}:
            yield from (Asked(option, *each) for each in in_condition(value))
        elif isinstance(value, BaseModel | dict):
            yield from asked(value, option)
        elif isinstance(value, tuple):
            for number, one in enumerate(value, 1):
                if isinstance(one, BaseModel):
                    yield from asked(one, f"{option}.{number}")


def in_condition(where: str) -> Iterator[tuple[str, str]]:
    """Yield attribute and value of every comparison in a condition."""
    yield from _EQUALS.findall(where)
    for attribute, values in _AMONG.findall(where):
        yield from ((attribute, value) for value in _QUOTED.findall(values))


def _fields(config: Any) -> Iterable[tuple[str, Any]]:
    return config.items() if isinstance(config, dict) else iter(config)
