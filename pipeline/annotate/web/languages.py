"""Languages of the annotation pages: message catalogues, and the choice of one for a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from babel.core import negotiate_locale
from babel.messages.pofile import read_po
from starlette.requests import Request

LANGUAGES = {"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español"}
"""Code of a language to its own name; English texts stand in the pages themselves."""
COOKIE = "lexassay-language"
_FOLDER = Path(__file__).parent / "languages"


@dataclass(frozen=True)
class Language:
    """A language with the translations of all texts.

    Parameters
    ----------
    code : str
        One of `LANGUAGES`.
    messages : mapping of str to str or list of str
        English text to its translation; the first of two plural forms to both translations.
    """

    code: str
    messages: Mapping[str, str | list[str]] = field(default_factory=dict)

    def text(self, message: str) -> str:
        """Return a text in this language; in English if it has no translation.

        Examples
        --------
        >>> language("de").text("Undo"), language("en").text("Undo")
        ('Rückgängig', 'Undo')
        """
        found = self.messages.get(message, message)
        return found if isinstance(found, str) else found[0]


ENGLISH = Language("en")


@cache
def language(code: str) -> Language:
    """Return a language.

    Raises
    ------
    KeyError
        If there is no such language.
    """
    LANGUAGES[code]
    if code == ENGLISH.code:
        return ENGLISH
    with (_FOLDER / f"{code}.po").open("rb") as file:
        catalog = read_po(file, locale=code)
    messages: dict[str, str | list[str]] = {}
    for each in catalog:
        if each.id and each.string and not each.fuzzy:
            if isinstance(each.id, str):
                messages[each.id] = str(each.string)
            else:
                messages[each.id[0]] = list(each.string)
    return Language(code, messages)


def language_of(request: Request) -> Language:
    """Return the language that a person chose, or else the first known one of the browser."""
    chosen = request.cookies.get(COOKIE, "")
    if chosen in LANGUAGES:
        return language(chosen)
    return language(_preferred(request.headers.get("accept-language", "")))


def _preferred(header: str) -> str:
    """Return the best language for an ``Accept-Language`` header.

    Examples
    --------
    >>> _preferred("de-CH,de;q=0.9,en;q=0.8"), _preferred("pl, fr;q=0.5, en;q=0.3"), _preferred("")
    ('de', 'fr', 'en')
    """
    weighted = []
    for each in header[:1000].split(","):
        name, _, weight = each.partition(";q=")
        try:
            weighted.append((-float(weight or 1), name.strip()))
        except ValueError:
            continue
    names = [name for _, name in sorted(weighted, key=lambda pair: pair[0])]
    return negotiate_locale(names, list(LANGUAGES), sep="-") or "en"
