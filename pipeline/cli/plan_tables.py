"""The table of a plan as people read it: in per cent, with a sentence that says how."""

from __future__ import annotations

import polars as pl

from pipeline.cli import output

_WIDTH = {
    "wanted": "wanted", "rate": "rate %", "size": "draws", "n": "n", "precision": "precision %",
    "n_sampled": "of them in list", "lower": "lower %", "upper": "upper %", "width": "width",
    "coverage": "coverage %", "empty": "none in list %",
}  # fmt: skip
_POWER = {
    "wanted": "wanted %", "rate": "rate %", "size": "draws", "n": "n", "apart": "in one list only",
    "only_1": "precision 1 %", "only_2": "precision 2 %", "difference": "difference",
    "power_1": "power 1 %", "power_2": "power 2 %", "untested": "no test %",
    "standard_error": "s.e.",
}  # fmt: skip
_READ_WIDTH = """\
width: what to expect of upper less lower limit, in percentage points; coverage: how often the
interval holds the assumed precision. docs/planning.md says how to choose."""
_READ_POWER = """\
precision 1 and 2: of the candidates that only that list has; difference: between the lists, in
percentage points; power 1 and 2: how often the test says that the first, or the second, is better;
s.e.: error of the simulation. docs/planning.md says how to choose."""
_ONE_TEST = """\
Of one test at the level alpha. Where a stage corrects for several comparisons, give a lower one:
with Holm's correction alpha / tests is safe."""
_UNREACHED = "no rate: even as many draws as candidates would not do."


def readable(plan: pl.DataFrame) -> pl.DataFrame:
    """Return a plan in per cent, rounded, with headings for people.

    Examples
    --------
    >>> plan = pl.DataFrame({"rate": [0.1], "size": [510], "n": [500], "width": [0.26553]})
    >>> readable(plan).to_dicts()
    [{'rate %': 10.0, 'draws': 510, 'n': 500, 'width': 26.6}]
    """
    heads = _POWER if "power_1" in plan.columns else _WIDTH
    shares = [name for name, dtype in plan.schema.items() if dtype == pl.Float64]
    rounded = plan.with_columns(
        (pl.col(name) * (1 if name == "n_sampled" else 100)).round(2 if name == "rate" else 1)
        for name in shares
    )
    empty = "wanted" in plan.columns and plan["wanted"].null_count() == plan.height
    chosen = [name for name in plan.columns if name != "wanted" or not empty]
    return rounded.select(pl.col(name).alias(heads.get(name, name)) for name in chosen)


def print_plan(plan: pl.DataFrame, *, title: str) -> None:
    """Print a plan, and how to read it."""
    output.print_table(readable(plan), rows=plan.height, title=title)
    power = "power_1" in plan.columns
    print(_READ_POWER if power else _READ_WIDTH)
    if power:
        print(_ONE_TEST)
    if plan["rate"].null_count():
        print(_UNREACHED)
