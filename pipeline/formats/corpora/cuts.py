"""Where a part of a file can be cut: after the last unit that is certain to have ended."""

from __future__ import annotations


def after_last_line(content: bytes) -> int:
    r"""Return the end of the last line that is whole.

    Examples
    --------
    >>> after_last_line(b"one\ntwo")
    4
    """
    return content.rfind(b"\n") + 1


def after_blank_line(content: bytes) -> int:
    r"""Return the end of the last blank line after another line.

    Examples
    --------
    >>> after_blank_line(b"one\ntwo\n\nthree\n"), after_blank_line(b"one\n")
    (9, 0)
    """
    end = content.rfind(b"\n\n") + 2
    later = content.rfind(b"\n\r\n", max(0, end - 2)) + 3
    return later if later > 2 else end if end > 1 else 0
