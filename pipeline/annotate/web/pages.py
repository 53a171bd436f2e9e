"""The pages' HTML, and what the card's page knows of the work."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from pipeline.annotate.links import Person
from pipeline.annotate.web.assets import Assets
from pipeline.annotate.work import Work
from pipeline.formats.decisions.log import Round
from pipeline.report.page.render import inline_json

_DIGITS = 9
"""Labels that have a digit as their key."""


class Pages:
    """Makes pages of templates; every text is escaped.

    Parameters
    ----------
    assets : Assets
        The scripts and styles: a template calls ``asset("card.js")`` for the address of one.
    """

    def __init__(self, assets: Assets) -> None:
        self._templates = Environment(
            loader=PackageLoader("pipeline.annotate.web"), autoescape=True, trim_blocks=True,
            lstrip_blocks=True, undefined=StrictUndefined, keep_trailing_newline=True,
        )  # fmt: skip
        self._templates.globals["asset"] = assets.address
        self._templates.filters["tojson"] = inline_json  # escapes more than its namesake

    def page(self, template: str, **values: Any) -> HTMLResponse:
        """Return a page; a template makes ``{{ value | tojson }}`` of what scripts read."""
        text = self._templates.get_template(template).render(**values)
        return HTMLResponse(text.encode("utf-8", "replace"))


def known(
    work: Work, who: Person, named: Round, *, address: str, categories: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return what the card's page knows of the work.

    Parameters
    ----------
    work : Work
        The work.
    who : Person
        Whose page it is.
    named : str
        The round.
    address : str
        What all addresses of this person begin with.
    categories : mapping of str to sequence of str
        Category to the labels that count as it.
    """
    return {
        "kind": work.kind, "title": work.title, "person": who.name, "round": named,
        "instructions": work.instructions, "labels": _labels(work), "address": address,
        "categories": {name: list(labels) for name, labels in categories.items()},
    }  # fmt: skip


def letters(labels: Sequence[str]) -> list[str | None]:
    """Return the first letter of each label, in lower case; None where it is not one label's alone.

    Examples
    --------
    >>> letters(["SVC", "figurative", "free", "Éloge", "2nd", ""])
    ['s', None, None, 'é', None, None]
    """
    first = [_letter(label) for label in labels]
    count = Counter(first)
    return [each if each is not None and count[each] == 1 else None for each in first]


def _letter(label: str) -> str | None:
    folded = unicodedata.normalize("NFC", label.strip()).casefold()
    return folded[0] if folded and folded[0].isalpha() else None


def _labels(work: Work) -> list[dict[str, str | None]]:
    chosen = {key.casefold() for key in work.keys.values()}
    free = [each if each not in chosen else None for each in letters(work.labels)]
    pairs = zip(work.labels, free, strict=True)
    return [
        {
            "label": label, "key": str(number) if number <= _DIGITS else "",
            "letter": work.keys.get(label, letter),
            "guideline": work.guidelines.get(label, ""),
        }
        for number, (label, letter) in enumerate(pairs, 1)
    ]  # fmt: skip
