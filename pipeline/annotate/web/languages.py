"""Languages of the annotation pages: message catalogues, the choice of one, numbers and times."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from babel.core import Locale, negotiate_locale
from babel.messages.pofile import read_po
from babel.numbers import format_decimal, get_decimal_symbol
from markupsafe import escape
from starlette.requests import Request

from pipeline.annotate.texts import Text

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
        translation = self.messages.get(message, message)
        text = translation if isinstance(translation, str) else translation[0]
        return escape(text).format(**values) if values else text

    def text(self, message: str, **values: object) -> str:
        """Return a text in this language, for JSON: nothing is escaped."""
        translation = str(self.messages.get(message, message))
        return translation.format(**values) if values else translation

    def translate(self, text: str) -> str:
        """Return a text that was made in English in this language, for JSON."""
        return text.to(self) if isinstance(text, Text) else self.text(text)

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
        return lambda *args, **kwargs: write(*args, **kwargs).replace(".", sign)

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


def translatable(message: str) -> str:
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
    code = request.cookies.get(COOKIE, "")
    if code in LANGUAGES:
        return language(code)
    return language(_negotiate(request.headers.get("accept-language", "")))


def _negotiate(header: str) -> str:
    """Return the best language for an ``Accept-Language`` header.

    Examples
    --------
    >>> _negotiate("de-CH,de;q=0.9,en;q=0.8"), _negotiate("pl, fr;q=0.5, en;q=0.3"), _negotiate("")
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


# Numbers, times and texts as the coordinator's page shows them.


_BIDI = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}
_LONG = 300


def plain(value: str, most: int = _LONG) -> str:
    r"""Return a text that cannot reorder its surroundings, nor fill the page.

    Examples
    --------
    >>> plain("ab\u202ecd\x07"), plain("x" * 9, 5)
    ('ab[U+202E]cd[U+0007]', 'xxxxx…')
    """
    # No name here is a keyword of Babel's extraction, which takes "text[" for the call of one.
    short = value if len(value) <= most else f"{value[:most]}…"
    return "".join(f"[U+{ord(each):04X}]" if _is_hidden(each) else each for each in short)


def split_marks(text: str) -> list[tuple[str, bool]]:
    """Return the parts of an example; true for the words of the pair, as cards mark them.

    Examples
    --------
    >>> split_marks("Sie [[stellt]] die [[Frage]].")
    [('Sie ', False), ('stellt', True), (' die ', False), ('Frage', True), ('.', False)]
    >>> split_marks("[[a]] ⟦⟦b⟧⟧"), split_marks("[[a")
    ([('[[a]] ', False), ('b', True)], [('[[a', False)])
    """
    signs = r"⟦⟦(.*?)⟧⟧" if "⟦⟦" in text else r"\[\[(.*?)\]\]"
    parts = re.split(signs, text, flags=re.DOTALL)
    return [(part, number % 2 == 1) for number, part in enumerate(parts) if part]


def points(value: float | None, *, signed: bool = False) -> str:
    """Return a share in points; an em dash where there is none.

    Examples
    --------
    >>> points(0.25), points(-0.0312, signed=True), points(None)
    ('25.0', '−3.1', '—')
    """
    if value is None:
        return "—"
    rounded = round(100 * value, 1) + 0.0
    return f"{rounded:{'+' if signed else ''}.1f}".replace("-", "−")


def coefficient(value: float | None) -> str:
    """Return a coefficient of agreement.

    Examples
    --------
    >>> coefficient(0.69951), coefficient(-0.2), coefficient(None)
    ('0.70', '−0.20', '—')
    """
    return "—" if value is None else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def moment(at: str) -> str:
    """Return a time, UTC, to the minute; empty if there is none.

    Examples
    --------
    >>> moment("2026-03-01T20:51:33.123+00:00"), moment("")
    ('2026-03-01 20:51 UTC', '')
    """
    return f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M} UTC" if at else ""


def _is_hidden(sign: str) -> bool:
    return ord(sign) in _BIDI or (unicodedata.category(sign) == "Cc" and sign not in "\n\t")
