"""All estimates of a sweep, packed for the controls of its page.

A quantity is an estimate of a collected table, for example its precision. It is an array with
an axis of points and an axis for each key of the table (category, measure, n). The page holds every
number as two bytes over the range of its quantity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import isfinite, prod
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.findings.phrases import list_text, name_text
from pipeline.kernels.measure import measure_title
from pipeline.report.charts.style import COLOURS, DASHES, SHADES, Slot, slots
from pipeline.report.page.html import inline_json, pack
from pipeline.report.page.model import Paragraph, SweepControls

LEVELS = 65_534
"""The range of a quantity is divided into so many steps."""
NOTHING = LEVELS + 1
"""The code of a number that is missing."""
LARGEST = 1e300
"""A number further from 0 counts as missing."""
MOST_NUMBERS = 5_000_000
"""So many numbers take at most 13.4 MB of the page: two bytes each, in base64."""
MOST_N = 40
"""The maximum number of values of n of a quantity with a whole curve."""
CONFIDENCE = 0.95
"""That of limits whose table does not say it."""
_LEVEL = 6
"""The compression level."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """Something that the reader can fix, or show as x axis, lines or facets.

    Parameters
    ----------
    key : str
        Identifies it: "setting:PATH" or "column:NAME".
    name : str
        Its name on the page.
    texts : tuple of str
        Its values, no two the same.
    numbers : tuple of float
        The same as numbers; empty if one of them is none.
    slots : tuple of Slot
        The colours of its values; empty if they have none of their own.
    """

    key: str
    name: str
    texts: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    slots: tuple[Slot, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """An estimate of a table at all points.

    Parameters
    ----------
    name, table : str
        The estimate, and the title of its table.
    is_share : bool
        Whether it is a proportion, shown in per cent.
    axes : tuple of Axis
        The keys of the table.
    numbers : array of float, shape (1 or 3, points, values of each axis)
        The estimates, and their limits if the table has them; NaN where there is none.
    confidence : float
        The confidence level of the limits.
    """

    name: str
    table: str
    is_share: bool
    axes: tuple[Axis, ...]
    numbers: Floats
    confidence: float = CONFIDENCE


def quantise(numbers: Floats) -> tuple[npt.NDArray[np.uint16], float, float]:
    """Return numbers as codes of two bytes, the lowest number, and the step between two codes.

    The number of a code is lowest + code * step; it differs from the original by at most half a
    step, which is (highest - lowest) / 131,068. Numbers that are not finite, or beyond 1e300, have
    the code 65,535.

    Examples
    --------
    >>> codes, low, step = quantise(np.array([0.0, 0.25, 1.0, np.nan]))
    >>> codes.tolist(), low, round(step * 65_534, 9)
    ([0, 16384, 65534, 65535], 0.0, 1.0)
    """
    known = np.abs(numbers) <= LARGEST
    low, high = (numbers[known].min(), numbers[known].max()) if known.any() else (0.0, 0.0)
    step = float((high - low) / LEVELS)
    codes = np.full(numbers.shape, NOTHING, np.uint16)
    # A range so narrow that its step is 0 has the single code 0.
    codes[known] = np.minimum(np.rint((numbers[known] - low) / step), LEVELS) if step else 0
    return codes, float(low), step


def read_quantity(
    tables: Sequence[pl.DataFrame],
    *,
    value: str,
    limits: Sequence[str],
    keys: Sequence[str],
    most: int = MOST_NUMBERS,
) -> tuple[dict[str, list[Any]], Floats] | int:
    """Return the values of each key and the estimates, or their number if they are too many.

    Parameters
    ----------
    tables : sequence of DataFrame
        The table at each point, without settings. At points without one of the columns there is
        no estimate.
    value, limits, keys : str, sequence of str
        Its columns: the estimate, its limits or none, and what identifies a row. Of a whole curve
        over n at most 40 round values of n are kept, or as many as fit.
    most : int
        The maximum of numbers.

    Returns
    -------
    tuple of dict and array, or int
        Key -> its values; numbers of shape (1 or 3, points, values of each key).

    Examples
    --------
    >>> table = pl.DataFrame({"measure": ["mi", "dice"], "precision": [0.5, 0.25]})
    >>> values, numbers = read_quantity([table], value="precision", limits=(), keys=["measure"])
    >>> values, numbers.tolist()
    ({'measure': ['mi', 'dice']}, [[[0.5, 0.25]]])
    """
    columns = [*keys, value, *limits]
    complete = [set(columns) <= set(table.columns) for table in tables]
    parts = [table.select(columns) for table, has in zip(tables, complete, strict=True) if has]
    heights = [table.height if has else 0 for table, has in zip(tables, complete, strict=True)]
    if not sum(heights):
        return {}, np.empty((0, len(tables)))
    rows = pl.concat(parts, how="vertical_relaxed").with_columns(
        pl.Series("~point", np.repeat(np.arange(len(tables)), heights))
    )
    values = {key: rows[key].unique(maintain_order=True).to_list() for key in keys}
    if "n" in values:
        others = prod(len(each) for key, each in values.items() if key != "n")
        room = most // max(1, others * len(tables) * (1 + len(limits)))
        ns = sorted(values["n"])
        values["n"] = ns = round_values(ns, most=max(1, min(MOST_N, room)))
        rows = rows.filter(pl.col("n").is_in(ns))
    shape = (1 + len(limits), len(tables), *(len(each) for each in values.values()))
    if prod(shape) > most:
        return prod(shape)
    estimates = np.full(shape, np.nan)
    at = [rows["~point"].to_numpy()]
    for key, each in values.items():
        places = pl.DataFrame({key: pl.Series(each, dtype=rows[key].dtype)}).with_row_index("~at")
        joined = rows.select(key).join(
            places, on=key, how="left", nulls_equal=True, maintain_order="left"
        )
        at.append(joined["~at"].to_numpy())
    for place, column in enumerate((value, *limits)):
        numbers = rows[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        estimates[place][tuple(at)] = np.where(np.isfinite(numbers), numbers, np.nan)
    return values, estimates


def round_values(values: Sequence[int], *, most: int) -> list[int]:
    """Return all values, or at most so many of them: multiples of 1, 2 or 5 times a power of ten.

    Parameters
    ----------
    values : sequence of int
        Different values, ascending.
    most : int
        The maximum number, at least 1.

    Examples
    --------
    >>> round_values(range(1, 238), most=5), round_values([3, 17, 101], most=5)
    ([50, 100, 150, 200], [3, 17, 101])
    """
    multiples, step, factors = list(values), 1, cycle((2.0, 2.5, 2.0))
    while len(multiples) > most:
        step = round(step * next(factors))
        multiples = [each for each in values if each % step == 0]
    return multiples or list(values[-1:])


def distinct(texts: Sequence[str]) -> tuple[str, ...]:
    """Return texts, each repeated one with a number.

    Examples
    --------
    >>> distinct(["1", "1", "a", "1"])
    ('1', '1 (2)', 'a', '1 (3)')
    """
    count = Counter[str]()
    labels: list[str] = []
    known = set(texts)
    for text in texts:
        count[text] += 1
        one = text if count[text] == 1 else f"{text} ({count[text]})"
        while count[text] > 1 and one in known:
            count[text] += 1
            one = f"{text} ({count[text]})"
        known.add(one)
        labels.append(one)
    return tuple(labels)


def axis_of(
    name: str, values: Sequence[Any], known: Mapping[str, Slot], *, has_colours: bool
) -> Axis:
    """Return the axis of a key column.

    Examples
    --------
    >>> axis_of("n", [100, 1000], {}, has_colours=False)
    Axis(key='column:n', name='n', texts=('100', '1,000'), numbers=(100.0, 1000.0), slots=())
    """
    numbers = [
        float(each) for each in values if isinstance(each, int | float) and isfinite(float(each))
    ]
    title = measure_title if name == "measure" else str
    texts = [
        f"{each:,}"
        if isinstance(each, int)
        else "–" if each is None else name_text(title(str(each))) or "(empty)"
        for each in values
    ]  # fmt: skip
    own: tuple[Slot, ...] = ()
    if has_colours:
        names = [str(each) for each in values]
        others = [known[each] for each in names if each in known]
        slot_of = {**slots([each for each in names if each not in known], others=others), **known}
        own = tuple(slot_of[each] for each in names)
    return Axis(
        f"column:{name}",
        name_text(name.replace("_", " ")),
        distinct(texts),
        tuple(numbers) if len(numbers) == len(values) else (),
        own,
    )


# The part of the page


def controls(
    settings: Sequence[Axis],
    places: npt.NDArray[np.int64],
    quantities: Sequence[Quantity],
    *,
    omitted: Mapping[str, int],
    name: str,
) -> tuple[SweepControls | Paragraph, ...]:
    """Return the part of the page with all estimates, and a paragraph on those that do not fit.

    Parameters
    ----------
    settings : sequence of Axis
        The settings that vary.
    places : array of int, shape (points, settings)
        The place of each point's value among the values of each setting.
    quantities : sequence of Quantity
        The estimates.
    omitted : mapping of str to int
        Title of a table -> number of its estimates, which are too many.
    name : str
        The stem of files that the reader saves.
    """
    parts: list[SweepControls | Paragraph] = []
    selection, rest = [], dict(omitted)
    room = MOST_NUMBERS
    for each in quantities:
        if each.numbers.size > room:
            rest[f"{each.name} of {each.table}"] = each.numbers.size
        elif each.numbers[:1].size > 1 and np.isfinite(each.numbers[0]).any():
            selection.append(each)
            room -= each.numbers.size
    if selection:
        parts.append(_part(settings, places, selection, name))
    if rest:
        text = list_text([f"{title} ({count:,} numbers)" for title, count in rest.items()])
        parts.append(
            Paragraph(
                f"The page holds at most {MOST_NUMBERS:,} estimates and limits. The controls omit"
                f" {text}; the files have all rows. Collect fewer rows with [sweep] where."
            )
        )
    return tuple(parts)


def _part(
    settings: Sequence[Axis],
    places: npt.NDArray[np.int64],
    quantities: Sequence[Quantity],
    name: str,
) -> SweepControls:
    contents = [_planes(places.T.astype(np.uint16))]
    heads = []
    for each in quantities:
        codes, low, step = quantise(each.numbers)
        contents.append(_planes(codes))
        heads.append(
            {
                "name": each.name,
                "table": each.table,
                "share": each.is_share,
                "limits": len(each.numbers) > 1,
                "z": NormalDist().inv_cdf((1 + each.confidence) / 2),
                "confidence": each.confidence,
                "low": low,
                "step": step,
                "axes": [_axis_head(axis) for axis in each.axes],
            }
        )
    combinations = prod(len(each.texts) for each in settings)
    head = {
        "file": name,
        "points": len(places),
        "complete": combinations == len(places),
        "settings": [_axis_head(axis) for axis in settings],
        "quantities": heads,
        "nothing": NOTHING,
        "colours": list(COLOURS.values()),
        "dashes": DASHES,
        "shades": SHADES,
    }
    numbers = sum(each.numbers.size for each in quantities)
    packed = pack(b"".join(contents), level=_LEVEL)
    return SweepControls(inline_json(head), packed, len(places), numbers)


def _axis_head(axis: Axis) -> dict[str, Any]:
    head: dict[str, Any] = {"key": axis.key, "name": axis.name, "texts": axis.texts}
    if axis.numbers:
        head["numbers"] = axis.numbers
    if axis.slots:
        head["slots"] = axis.slots
    return head


def _planes(codes: npt.NDArray[np.uint16]) -> bytes:
    """Return the lower bytes of all codes, then the higher: they compress better."""
    flat = codes.ravel()
    return (flat & 0xFF).astype(np.uint8).tobytes() + (flat >> 8).astype(np.uint8).tobytes()
