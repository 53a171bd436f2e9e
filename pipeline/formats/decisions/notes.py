"""A note and the mark that somebody was not sure, as one text for sheets."""

from __future__ import annotations

UNSURE = "unsure"


def written(note: str, *, unsure: bool) -> str | None:
    """Return the text of a sheet's cell; None if there is nothing to say.

    Examples
    --------
    >>> written("or free?", unsure=True), written("", unsure=True), written("", unsure=False)
    ('unsure: or free?', 'unsure', None)
    """
    said = [UNSURE] if unsure else []
    return ": ".join([*said, *filter(None, [note])]) or None


def read_back(text: str | None) -> tuple[str, bool]:
    """Return the note, and whether somebody was not sure.

    Examples
    --------
    >>> read_back("unsure: or free?"), read_back("unsure"), read_back(None)
    (('or free?', True), ('', True), ('', False))
    """
    bare = (text or "").strip()
    first, _, rest = bare.partition(":")
    if first.strip() == UNSURE:
        return rest.strip(), True
    return bare, False
