"""Languages of the annotation pages: message catalogues, and the choice of one for a request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from babel.core import Locale, negotiate_locale
from babel.messages.pofile import read_po
from babel.numbers import format_decimal, get_decimal_symbol
from markupsafe import escape
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

    def t(self, message: str, **values: object) -> str:
        """Return a text in this language, for HTML; in English if it has no translation.

        Examples
        --------
        >>> language("de").t("Undo"), language("en").t("{done} of {asked}", done=1, asked="<2>")
        ('Rückgängig', Markup('1 of &lt;2&gt;'))
        """
        found = self.messages.get(message, message)
        text = found if isinstance(found, str) else found[0]
        return escape(text).format(**values) if values else text

    def text(self, message: str, **values: object) -> str:
        """Return a text in this language, for JSON: nothing is escaped."""
        return str(self.messages.get(message, message)).format(**values)

    def text_n(self, one: str, many: str, n: int, **values: object) -> str:
        """Return one of two forms, for JSON; see `tn`."""
        return self._form(one, many, n).format(n=self.number(n), **values)

    def tn(self, one: str, many: str, n: int, **values: object) -> str:
        """Return one of two forms, by a number, which stands in the text as {n}.

        Examples
        --------
        >>> [language("en").tn("{n} card is left.", "{n} cards are left.", n) for n in (1, 1200)]
        [Markup('1 card is left.'), Markup('1,200 cards are left.')]
        """
        return escape(self._form(one, many, n)).format(n=self.number(n), **values)

    def decimal(self, write: Callable[..., str]) -> Callable[..., str]:
        """Return a function that writes numbers with a point, with the sign of this language."""
        sign = get_decimal_symbol(self.code)
        return lambda *given, **more: write(*given, **more).replace(".", sign)

    def _form(self, one: str, many: str, n: int) -> str:
        forms = self.messages.get(one, [one, many])
        return forms[0 if Locale(self.code).plural_form(n) == "one" else 1]

    def number(self, value: float, digits: int = 0) -> str:
        """Return a number as this language writes it.

        Examples
        --------
        >>> language("de").number(1234), language("en").number(2.345, 1)
        ('1.234', '2.3')
        """
        pattern = "#,##0." + "0" * digits if digits else "#,##0"
        return format_decimal(value, format=pattern, locale=self.code)


ENGLISH = Language("en")


def translated(message: str) -> str:
    """Return an error as it is: the catalogues have it, and the page shows its translation."""
    return message


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
