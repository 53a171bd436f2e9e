"""Table cells with words or labels: spreadsheet errors, and lists of labels."""

from __future__ import annotations

import ast
import json

import polars as pl

# Spreadsheet errors, e.g. #NAME? for -ness

_ERROR = (
    r"^(#[¡¿]?\p{Lu}[\p{Lu}_/0]*[!?]|#(N/A|NV|N/D|N/B|I/T|YOK|Н/Д|GETTING_DATA)"
    r"|(Err|Error|Fehler|Erreur):\d{3})$"
)
"""Errors of Excel, LibreOffice and Google Sheets, including translations."""
_LIST = r'^(\[\s*(".*"|\'.*\'|\{\s*".*\})\s*\]|\{\s*".*\})$'
"""A list of texts, or an object, in JSON or Python syntax."""
NO_WORD = "is empty or a spreadsheet error"
"""Message for a field rejected by `word`."""
_CHOICES = ("choices", "labels", "accept")
"""Object members with labels in Label Studio, doccano and Prodigy."""
ABSENT = ("-", "–", "—", "−")
"""Entries for a lemma missing from a dictionary."""
SEPARATORS = r"[,;\n\r،、]+"
"""Between two forms of a lemma in a cell."""


def is_error(text: pl.Expr) -> pl.Expr:
    """Return true for spreadsheet errors.

    Parameters
    ----------
    text : Expr
        The column, text.

    Examples
    --------
    >>> texts = pl.DataFrame({"word": ["#N/A", "#", "#NAME? ", "NA", "-ness"]})
    >>> texts.select(is_error(pl.col("word"))).to_series().to_list()
    [True, False, True, False, False]
    """
    return text.str.strip_chars().str.contains(_ERROR)


def word(text: pl.Expr) -> pl.Expr:
    """Return texts as words; null for blanks, spreadsheet errors and lists.

    Parameters
    ----------
    text : Expr
        The column, text.

    Examples
    --------
    >>> texts = pl.DataFrame({"l1": ["in Frage", "", "#NAME?", "NA", "[", '["a"]']})
    >>> texts.select(word(pl.col("l1"))).to_series().to_list()
    ['in Frage', None, None, 'NA', '[', None]
    """
    bare = text.str.strip_chars()
    return pl.when((bare != "") & ~is_error(text) & ~bare.str.contains(_LIST)).then(text)


# Lists of labels in one cell


def label_lists(text: pl.Expr) -> pl.Expr:
    """Return the labels in each cell: one, or those of a list; empty if there is none.

    Read as lists are ``["SVC"]``, the same as Python writes it, ``['SVC']``, and an object with a
    list of texts called choices, labels or accept, as Label Studio has them; each in the quotation
    marks of a TSV file, too. Other texts are single labels, stripped of blanks.

    Parameters
    ----------
    text : Expr
        The column, text.

    Returns
    -------
    Expr
        List of String; null for empty cells and spreadsheet errors.

    Examples
    --------
    >>> texts = pl.DataFrame({"label": [" SVC", '["SVC", "x"]', '{"choices": ["x"]}', "[]"]})
    >>> texts.select(label_lists(pl.col("label"))).to_series().to_list()
    [['SVC'], ['SVC', 'x'], ['x'], None]
    """
    return text.map_batches(_read_lists, return_dtype=pl.List(pl.String), is_elementwise=True)


def single_label(text: pl.Expr) -> pl.Expr:
    """Return the label of single-element lists, and the text of other cells.

    Parameters
    ----------
    text : Expr
        The column, text.

    Examples
    --------
    >>> texts = pl.DataFrame({"label": ['["yes"]', "no", '["a", "b"]']})
    >>> texts.select(single_label(pl.col("label"))).to_series().to_list()
    ['yes', 'no', '["a", "b"]']
    """
    lists = label_lists(text)
    return pl.when(lists.list.len() == 1).then(lists.list.first()).otherwise(text)


def _read_lists(texts: pl.Series) -> pl.Series:
    frame = pl.DataFrame({"text": texts.cast(pl.String).str.strip_chars()})
    text = pl.col("text")
    one = pl.when((text != "") & ~is_error(text)).then(pl.concat_list(text))
    labels = frame.select(one.alias(texts.name)).to_series()
    nested = frame.filter(text.str.contains(r'^"?[\[{]')).to_series().unique()
    lists = {cell: found for cell in nested if (found := _labels(cell)) is not None}
    if not lists:
        return labels
    values = [
        lists[cell] or None if cell in lists else label
        for cell, label in zip(frame.to_series(), labels, strict=True)
    ]
    return pl.Series(texts.name, values, dtype=pl.List(pl.String))


def _labels(cell: str) -> list[str] | None:
    """Return the labels of a list; None for other cells."""
    if cell.startswith('"') and cell.endswith('"'):  # quoted by other programs
        cell = cell[1:-1].replace('""', '"')
    try:
        found = json.loads(cell)
    except ValueError:
        try:
            found = ast.literal_eval(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    except RecursionError:
        return None
    if isinstance(found, dict):
        found = next((found[name] for name in _CHOICES if name in found), None)
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        return None
    return [each.strip() for each in found if each.strip()]
