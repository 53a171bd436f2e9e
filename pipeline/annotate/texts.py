"""Texts of the annotation pages that are made before a language is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol


class Translator(Protocol):
    """A language: `pipeline.annotate.web.languages.Language`."""

    def text(self, message: str, **values: object) -> str:
        """Return a text with its values."""

    def text_n(self, one: str, many: str, n: int, **values: object) -> str:
        """Return one of two forms, by a number."""

    def number(self, value: float) -> str:
        """Return a number."""


class _English:
    def text(self, message: str, **values: object) -> str:
        return message.format(**values) if values else message

    def text_n(self, one: str, many: str, n: int, **values: object) -> str:
        return (one if n == 1 else many).format(n=self.number(n), **values)

    def number(self, value: float) -> str:
        return f"{value:,}"


class Text(str):
    """A text in English that can also be written in another language.

    Parameters
    ----------
    write : callable
        Returns the text in a language.
    """

    _write: Callable[[Translator], str]

    def __new__(cls, write: Callable[[Translator], str]) -> Text:
        """Return the text in English."""
        english = super().__new__(cls, write(_English()))
        english._write = write
        return english

    def to(self, language: Translator) -> str:
        """Return the text in a language."""
        return self._write(language)


def text(message: str, **values: object) -> Text:
    """Return a text; its values may be texts.

    Examples
    --------
    >>> text("not saved: {why}", why=text("the server is stopping"))
    'not saved: the server is stopping'
    """
    return Text(lambda language: language.text(message, **_values(values, language)))


def text_n(one: str, many: str, n: int, **values: object) -> Text:
    """Return one of two forms, by a number, which stands in the text as {n}.

    Examples
    --------
    >>> text_n("{n} card of {name}", "{n} cards of {name}", 1200, name="anna")
    '1,200 cards of anna'
    """
    return Text(lambda language: language.text_n(one, many, n, **_values(values, language)))


def join(*texts: str) -> Text:
    """Return the texts that are not empty, one after another."""
    return Text(lambda language: " ".join(_in(each, language) for each in texts if each))


def _values(values: Mapping[str, object], language: Translator) -> dict[str, object]:
    return {name: _in(each, language) for name, each in values.items()}


def _in(value: object, language: Translator) -> str:
    if isinstance(value, Text):
        return value.to(language)
    return language.number(value) if isinstance(value, int) else str(value)
