"""Where a part of a file can be cut."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.corpora.rules import after_blank_line


@given(st.text("a\n\r", max_size=9))
def test_after_the_last_blank_line(text: str) -> None:
    """As if all blank lines, of either kind, were looked for."""
    content = text.encode()
    marks = (b"\n\n", b"\n\r\n")
    ends = [
        at + len(mark)
        for mark in marks
        for at in range(len(content))
        if content[at:].startswith(mark)
    ]
    assert after_blank_line(content) == max(ends, default=0)
