"""Token tables: what lines without tabs say."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class TokenMarks:
    """How lines that are no tokens are told.

    Parameters
    ----------
    comment : str
        What lines begin with that are passed over; empty for none.
    document : str
        Regular expression of a line that begins a document; empty for none.

    Examples
    --------
    >>> marks = TokenMarks("# ", r"^# doc (.*)")
    >>> lines = pl.DataFrame({"line": ["# doc a", "# b", "#"]})
    >>> name, comment = marks.name(pl.col("line")), marks.is_comment(pl.col("line"))
    >>> lines.select(name.alias("name"), comment.alias("comment")).rows()
    [('a', True), (None, True), (None, False)]
    """

    comment: str
    document: str

    def name(self, line: pl.Expr) -> pl.Expr:
        """Return the name of the document that a line without tabs begins; null for others."""
        return line.str.extract(self.document) if self.document else pl.lit(None, pl.String())

    def is_comment(self, first: pl.Expr) -> pl.Expr:
        """Return whether the first field of a line makes it a comment."""
        if not self.comment:
            return pl.lit(value=False)
        return first.str.starts_with(self.comment).fill_null(value=False)
