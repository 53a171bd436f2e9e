"""What the second worksheet says: what is to be done, when each label is given, the columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pipeline.formats.sheets.layout import Column, Layout
from pipeline.formats.sheets.visible import visible

_TO_KNOW = """\
Fill in the white cells. The grey cells are locked, so that ids and examples stay what they are; \
there is no password. To sort the rows, switch the protection of the sheet off.
The order of rows and columns does not matter. Columns of your own may be added on the right. \
Keep the column id as it is."""


class Said(NamedTuple):
    """A line of the instructions, and whether it is a heading."""

    text: str
    heading: bool = False


def instruction_lines(
    layout: Layout, instructions: str, guidelines: Mapping[str, str]
) -> list[Said]:
    r"""Return the lines of the instructions, from the first to the last.

    Parameters
    ----------
    layout : Layout
        The columns, and what can be chosen in them.
    instructions : str
        Paragraphs, one per line.
    guidelines : mapping of str to str
        What can be chosen, each with when it is given; shown in the order of the choices.

    Examples
    --------
    >>> layout = Layout((Column("id", "id", writable=False, width=18),))
    >>> lines = instruction_lines(layout, "Judge.", {"SVC": "A light verb.\nAs in: take care."})
    >>> [line.text for line in lines[:5]]
    ['Judge.', '', 'Labels', 'SVC: A light verb.', 'As in: take care.']
    """
    lines = [Said(text) for text in f"{instructions}\n".split("\n")]
    if guidelines:
        lines += [Said("Labels", heading=True), *_guided(layout, guidelines), Said("")]
    lines += [Said(text) for text in f"{_TO_KNOW}\n".split("\n")]
    lines += [Said("Columns", heading=True)]
    said = [each for each in layout.columns if each.writable or each.help]
    return lines + [Said(_described(each)) for each in said]


def _guided(layout: Layout, guidelines: Mapping[str, str]) -> list[Said]:
    choices = [choice for each in layout.columns for choice in each.choices]
    ordered = dict.fromkeys(each for each in [*choices, *guidelines] if each in guidelines)
    texts = (f"{label}: {guidelines[label].strip()}" for label in ordered)
    return [Said(visible(line)) for text in texts for line in text.splitlines()]


def _described(column: Column) -> str:
    choices = f"One of: {', '.join(column.choices)}." if column.choices else ""
    return " ".join(filter(None, (f"{column.title}:", column.help or "to fill in.", choices)))
