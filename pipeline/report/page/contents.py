"""What is shown of one stage: the blocks of its view, in the style of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pipeline.errors import NotMadeYet
from pipeline.report.charts.parts.options import Slot, Style
from pipeline.report.page.document import Shown
from pipeline.report.view import VIEWS, Block, Styled, Text, ViewOptions

NO_SLOTS: Mapping[str, Slot] = MappingProxyType({})


def contents(
    shown: Shown, *, style: Style | None, slots: Mapping[str, Slot] = NO_SLOTS
) -> Sequence[Block]:
    """Return texts, tables and figures of a stage.

    Parameters
    ----------
    shown : Shown
        The stage, of a kind that has a view.
    style : {"screen", "print"} or None
        The style of its figures, unless the options of its view say.
    slots : mapping of str to Slot
        The colours that the report gave to names.

    Returns
    -------
    sequence of Block
        In the order of the page; where a table is not there yet, a text that says so.

    Raises
    ------
    ConfigError
        If an option of the view names what is not there.
    """
    if shown.missing:
        return [Text(f"Not there yet: {shown.missing}.")]
    try:
        return blocks(shown, style=style, slots=slots)
    except NotMadeYet as error:
        return [Text(f"Not shown yet: it looks at {error.table}, which is not there yet.")]


def blocks(
    shown: Shown, *, style: Style | None, slots: Mapping[str, Slot] = NO_SLOTS
) -> Sequence[Block]:
    """Return the same of a stage that is done.

    Raises
    ------
    ConfigError
        Also if its view looks at a table that is not there yet: `NotMadeYet`.
    """
    view = VIEWS.get(shown.view.use)
    own = view.options() if shown.options is None else shown.options
    return view.show(shown.view, _styled(own, style, slots))


def _styled(options: ViewOptions, style: Style | None, slots: Mapping[str, Slot]) -> ViewOptions:
    """Give a view the report's colours, and its style unless the view has its own."""
    if isinstance(options, Styled):
        options = options.coloured(slots)
    own = options.model_fields_set
    if style is None or "style" in own or "style" not in type(options).model_fields:
        return options
    return options.model_copy(update={"style": style})
