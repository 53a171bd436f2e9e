"""Lines of a tooltip."""

from __future__ import annotations

import altair as alt


def words(field: str, title: str) -> alt.Tooltip:
    """Return a line with the text of a field."""
    return alt.Tooltip(field, type="nominal", title=title)


def number(field: str, title: str, form: str) -> alt.Tooltip:
    """Return a line with the number of a field, in the form that D3 calls so."""
    return alt.Tooltip(field, type="quantitative", title=title, format=form)
