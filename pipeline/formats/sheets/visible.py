r"""Control characters in sheets, written so that people see them and no program loses them.

Spreadsheets keep, drop or translate control characters, each in its own way, and take ``_x000D_``
for one of them. So a sheet has ``\x0D`` for a carriage return, and ``\x5Fx000D_`` for ``_x000D_``.
A backslash that would be read so is doubled; all other text stays as it is, line feeds too.
"""

from __future__ import annotations

import re

_CODE = "[01][0-9A-F]|5F"
_ENDANGERED = re.compile(
    rf"(\\*)([\x00-\x09\x0b-\x1f]|_(?=x[0-9A-Fa-f]{{4}}_))|(\\+)(?=x(?:{_CODE}))"
)
_WRITTEN = re.compile(rf"(\\+)x({_CODE})")


def visible(text: str) -> str:
    r"""Return the text as a sheet has it.

    Examples
    --------
    >>> print(*(visible(text) for text in ("a\rb", "_x000D_", "C:\\x07", "C:\\new")))
    a\x0Db \x5Fx000D_ C:\\x07 C:\new
    """
    return _ENDANGERED.sub(_shown, text)


def original(text: str) -> str:
    r"""Return the text that `visible` was given.

    Examples
    --------
    >>> original(r"a\x0Db"), original(r"\x5Fx000D_"), original(r"C:\\x07") == r"C:\x07"
    ('a\rb', '_x000D_', True)
    """
    return _WRITTEN.sub(_meant, text)


def _shown(match: re.Match[str]) -> str:
    before, sign, backslashes = match.groups()
    return 2 * backslashes if backslashes else rf"{2 * before}\x{ord(sign):02X}"


def _meant(match: re.Match[str]) -> str:
    backslashes, code = match.groups()
    kept = "\\" * (len(backslashes) // 2)
    return kept + (chr(int(code, 16)) if len(backslashes) % 2 else f"x{code}")
