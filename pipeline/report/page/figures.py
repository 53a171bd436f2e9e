"""All figures of a page as one script: their specifications, packed, and the library that draws."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.report.charts.parts.colours import DARK
from pipeline.report.charts.parts.spec import Spec
from pipeline.report.page.assets import packed
from pipeline.report.page.vendor import packed_library, versions


def script(figures: Mapping[str, Iterable[Spec | None]]) -> str:
    """Return the script that holds all figures of a page; empty if there are none.

    Parameters
    ----------
    figures : mapping of str to sequence of specifications
        Name -> the wide one, and the narrow one or None.
    """
    if not figures:
        return ""
    packs = {"library": packed_library(), "figures": packed(content(figures).encode())}
    texts = json.dumps(packs | {"dark": DARK}, separators=(",", ":"))
    made = ", ".join(f"{name} {version}" for name, version in versions().items())
    said = f"/* Drawn by {made}: BSD-3-Clause, with parts under ISC. */"
    return f"{said}\nwindow.lexassayFigures={texts};"


def content(figures: Mapping[str, Iterable[Spec | None]]) -> str:
    r"""Return the specifications as JSON; data that several have stand once.

    Examples
    --------
    >>> chart = {"layer": [{"data": {"values": "n\n1\n", "format": {"type": "csv"}}}]}
    >>> content({"a": [chart, None], "b": [chart, chart]}).count("csv")
    1
    """
    pool: dict[str, int] = {}
    drawn = {
        name: [None if spec is None else pooled(spec, pool) for spec in specs]
        for name, specs in figures.items()
    }
    held = [json.loads(text) for text in pool]
    return _json({"data": held, "figures": drawn})


def pooled(value: Any, pool: dict[str, int]) -> Any:
    """Return a specification whose inline data are numbers of the pool, which grows by them."""
    if isinstance(value, Mapping):
        return {
            name: pool.setdefault(_json(held), len(pool)) if _is_data(name, held)
            else pooled(held, pool)
            for name, held in value.items()
        }  # fmt: skip
    if isinstance(value, list | tuple):
        return [pooled(each, pool) for each in value]
    return value


def _is_data(name: str, held: Any) -> bool:
    return name == "data" and isinstance(held, Mapping) and "values" in held


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
