"""Numbers, times and texts as the coordinator's page shows them."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

_BIDI = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}
_LONG = 300


def plain(text: str, most: int = _LONG) -> str:
    r"""Return a text that cannot reorder its surroundings, nor fill the page.

    Examples
    --------
    >>> plain("ab\u202ecd\x07"), plain("x" * 9, 5)
    ('ab[U+202E]cd[U+0007]', 'xxxxx…')
    """
    cut = text if len(text) <= most else f"{text[:most]}…"
    return "".join(f"[U+{ord(each):04X}]" if _is_hidden(each) else each for each in cut)


def marked(text: str) -> list[tuple[str, bool]]:
    """Return the parts of an example; true for the words of the pair, as cards mark them.

    Examples
    --------
    >>> marked("Sie [[stellt]] die [[Frage]].")
    [('Sie ', False), ('stellt', True), (' die ', False), ('Frage', True), ('.', False)]
    >>> marked("[[a]] ⟦⟦b⟧⟧"), marked("[[a")
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
