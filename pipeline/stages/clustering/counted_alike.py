"""Whether stages that are evaluated together count the same tokens as the same items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import polars as pl

from pipeline.errors import DataError, Problem
from pipeline.kernels.hashing import seeded_key
from pipeline.stages.base import Referred, StageConfig
from pipeline.stages.clustering.tags import TagOptions

_KEY = ["item", "gold"]
ROWS = 2_000_000
"""Rows of counts to look at in one go."""


def counted_alike(_config: StageConfig, referred: Mapping[str, Referred]) -> Iterator[Problem]:
    """Yield a problem for each stage that counts otherwise than the stage of the gold classes.

    Only stages that read tags are compared. The items have to be made alike. The excluded classes
    have to be the same if they are classes of one attribute. A threshold may be lower than that
    of the gold classes: items that these do not have are left out.

    Parameters
    ----------
    _config : StageConfig
        The options of the evaluation.
    referred : mapping of str to Referred
        The stages that an evaluation refers to, by its own option: ``gold``, ``systems.0`` ...

    Yields
    ------
    Problem
        Named by that option; one for each stage.
    """
    gold = referred.get("gold")
    if gold is None or not isinstance(gold.config, TagOptions):
        return
    seen = {gold.stage}
    for place, (stage, config) in referred.items():
        if stage in seen or not isinstance(config, TagOptions):
            continue
        seen.add(stage)
        if different := _different(config, gold.config):
            shown = "; ".join(
                f"{option} = {_written(config, option)}, not {_written(gold.config, option)}"
                for option in different
            )
            what = f"stage {stage!r} does not count what {gold.stage!r} counts: {shown}"
            yield Problem(
                place, what, "give both the same options: their items have to be the same"
            )


def _different(config: TagOptions, gold: TagOptions) -> list[str]:
    """Return the options that have to agree and do not."""
    wrong = {
        "item": config.item != gold.item,
        "fold": config.fold != gold.fold,
        "exclude": config.tag == gold.tag and {*config.exclude} != {*gold.exclude},
        "min_frequency": config.min_frequency > gold.min_frequency,
    }
    return [option for option, differs in wrong.items() if differs]


def _written(config: TagOptions, option: str) -> str:
    value = getattr(config, option)
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{one}"' for one in value) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def require_same_tokens(
    tagged: pl.LazyFrame, gold: pl.LazyFrame, *, name: str, other: str, rows: int = ROWS
) -> None:
    """Refuse to compare systems on different tokens.

    Parameters
    ----------
    tagged, gold : LazyFrame
        item, gold and f; rows with the same item and class are added up.
    name, other : str
        What to call the two in an error.
    rows : int
        About how many rows of both to look at in one go.

    Raises
    ------
    DataError
        If an item does not have as many tokens of each class in both.
    """
    found = [_differences(*pair) for pair in _pieces(tagged, gold, rows)]
    bad = sum(each.number for each in found)
    if not bad:
        return
    most = pl.concat(each.most for each in found)
    shown = "; ".join(
        f"{item!r} {label}: {here:,} and {there:,}"
        for item, label, here, there, _ in _largest(most).iter_rows()
    )
    sums = [sum(each.tokens[at] for each in found) for at in range(2)]
    raise DataError(
        f"{name} and {other} do not have the same tokens, so their scores cannot be compared:"
        f" {sums[0]:,} tokens and {sums[1]:,}; {bad:,} pairs of an item and a class have"
        f" other counts, such as {shown}\nRead the same text, with the same item, tag, exclude,"
        " fold and min_frequency; or evaluate them in a stage each."
    )


class _Differences(NamedTuple):
    """Where two counts of the same items differ: how often, the largest, tokens of both."""

    number: int
    most: pl.DataFrame
    tokens: tuple[int, int]


def _pieces(
    one: pl.LazyFrame, two: pl.LazyFrame, rows: int
) -> Iterator[tuple[pl.LazyFrame, pl.LazyFrame]]:
    """Yield both tables in so many pieces that one has about `rows`; an item is in one alone."""
    height = sum(int(each.select(pl.len()).collect().item()) for each in (one, two))
    number = -(-height // rows)
    piece = seeded_key("item", seed="", purpose="pieces") % number
    for at in range(number):
        yield (one, two) if number == 1 else (one.filter(piece == at), two.filter(piece == at))


def _differences(tagged: pl.LazyFrame, gold: pl.LazyFrame) -> _Differences:
    counts = [each.group_by(_KEY).agg(pl.sum("f")).collect() for each in (tagged, gold)]
    both = counts[0].join(counts[1], on=_KEY, how="full", coalesce=True).fill_null(0)
    bad = both.filter(pl.col("f") != pl.col("f_right"))
    most = bad.select(*_KEY, "f", "f_right", gap=(pl.col("f") - pl.col("f_right")).abs())
    one, two = (int(each["f"].sum()) for each in counts)
    return _Differences(bad.height, _largest(most), (one, two))


def _largest(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort("gap", *_KEY, descending=[True, False, False]).head(3)
