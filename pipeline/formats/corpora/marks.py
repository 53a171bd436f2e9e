"""Names of the columns by which the lines of a block say where they stand."""

from __future__ import annotations

BLANK = "~blank"
"""Given to a format: whether a line is empty."""
ALONE = "~alone"
"""Given to a format: whether a line has one field alone."""
LAST = "~last"
"""The last field of a line as it is written."""

UNIT = "~unit"
"""What tells units (sentences) apart: they stand or fall as one; null outside of units."""
ROW = "~row"
"""Whether a line is a row, to be judged; without this column all are."""
POSITION = "position"
"""The 1-based place of a token in its unit, null for a row that is no token; without this column
tokens are counted."""
SOME = "~some"
"""Of a line with lists of tokens: whether it holds any; without this column the lists are asked."""
HEAD = "head"
"""The attribute that is the position of a token's head."""
RAW_HEAD = "~raw_head"
"""`HEAD` as it is written."""

SURFACE = "surface"
"""The attribute with what is written for a token in place of its form; "" if it is written within
the token before, null if as its form."""
SPACE_AFTER = "space_after"
"""The attribute with what stands between a token and the next; null for one space."""

DOCUMENT = "~document"
"""True on a line where a document begins, false where one ends, null elsewhere."""
NAME = "~name"
"""The name of the document that begins; null or empty: it is called by its number, ``#2``."""
PARAGRAPH = "~paragraph"
"""True on a line where a paragraph begins, false where one ends, null elsewhere."""
KEY = "~key"
"""What a paragraph goes by where a change begins one: the same as the last before, it goes on."""
