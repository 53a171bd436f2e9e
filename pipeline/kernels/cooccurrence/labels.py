"""Labels of units: templates such as ``{prep.lemma}:{lemma}`` as expressions."""

from __future__ import annotations

import string

import polars as pl


def fields(template: str) -> list[str]:
    """Return the attributes that a template asks for, in order.

    Parameters
    ----------
    template : str
        Text with ``{attribute}`` for the unit's own attributes and ``{name.attribute}`` for
        those of a related token; ``{{`` and ``}}`` stand for braces.

    Raises
    ------
    ValueError
        If braces do not match, or a field is empty or has a conversion.

    Examples
    --------
    >>> fields("{prep.lemma}:{lemma}")
    ['prep.lemma', 'lemma']
    """
    attributes = []
    for _text, field, specification, conversion in _parts(template):
        if field is None:
            continue
        if not field or specification or conversion:
            raise ValueError(f"{template!r}: write {{attribute}} or {{name.attribute}}")
        attributes.append(field)
    if not attributes:
        raise ValueError(f"{template!r} names no attribute: every unit would be called the same")
    return attributes


def _parts(template: str) -> list[tuple[str, str | None, str | None, str | None]]:
    """Return what stands before each field, and the field."""
    try:
        return list(string.Formatter().parse(template))
    except ValueError as error:
        raise ValueError(
            f"{template!r} has a brace without its like: write {{attribute}}; a brace that is"
            " text is doubled"
        ) from error


def label(template: str, *, optional: frozenset[str] = frozenset()) -> pl.Expr:
    """Return the label of each row.

    Parameters
    ----------
    template : str
        As for `fields`; the columns are called as the fields are.
    optional : set of str
        Related tokens that may be absent: their attributes are then empty.

    Returns
    -------
    Expr
        String; null where an attribute that is not optional is null, and where nothing but blanks
        would be the label.

    Examples
    --------
    >>> frame = pl.DataFrame({"prep.lemma": ["in"], "lemma": ["Frage"]})
    >>> frame.select(label("{prep.lemma}:{lemma}")).item()
    'in:Frage'
    """
    fields(template)
    parts: list[pl.Expr] = []
    for text, field, _specification, _conversion in _parts(template):
        if text:
            parts.append(pl.lit(text))
        if field:
            column = pl.col(field).cast(pl.String)
            absent = field.partition(".")[0] in optional and "." in field
            parts.append(column.fill_null("") if absent else column)
    whole = pl.concat_str(parts) if len(parts) > 1 else parts[0]
    return whole.map_batches(_filled, return_dtype=pl.String(), is_elementwise=True)


def _filled(texts: pl.Series) -> pl.Series:
    """Return texts, null where there is nothing but white space: next to none, so looked for."""
    doubtful = (texts < "!") | (texts > "~")  # what begins otherwise begins with no white space
    if not doubtful.any():
        return texts
    blank = texts.filter(doubtful).str.strip_chars() == ""
    if not blank.any():
        return texts
    return (
        texts.to_frame("text")
        .select(pl.when(pl.col("text").str.strip_chars() != "").then("text"))
        .to_series()
    )
