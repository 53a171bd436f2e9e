"""Charts, tables and sentences of sample size plans."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl

from pipeline.kernels.survey.design import KINDS
from pipeline.kernels.survey.planning import PLANS
from pipeline.sizing.design import TOGETHER, Planner, curves

if TYPE_CHECKING:
    import altair as alt

    from pipeline.report.charts.style import Look


GRID = 24
"""Sampling rates per line."""


def plan_chart(
    curves: pl.DataFrame, *, points: pl.DataFrame | None = None, look: Look | None = None
) -> alt.TopLevelMixin:
    """Draw a plan against the sampling rate, with one line per list size and precision.

    Parameters
    ----------
    curves : DataFrame
        From `plan_width`, `plan_comparison` or `plan_pilot`.
    points : DataFrame, optional
        Another such table, whose rows are marked.
    look : Look, optional
        Style and size, see `pipeline.report.charts`.

    Returns
    -------
    LayerChart
        Displays in a notebook; ``.save("plan.svg")`` saves it.

    Raises
    ------
    ValueError
        If there is nothing to draw.

    Examples
    --------
    >>> from pipeline.sizing.plan import plan_width
    >>> curves = plan_width(candidates=5102, n=[500, 1000], precisions=[0.3], rates=[0.1, 0.2])
    >>> type(plan_chart(curves)).__name__
    'LayerChart'
    """
    from pipeline.api.results import as_altair  # noqa: PLC0415  takes long

    return as_altair(plan_spec(curves, points=points, look=look))


def plan_spec(
    curves: pl.DataFrame, *, points: pl.DataFrame | None = None, look: Look | None = None
) -> dict[str, Any]:
    """Return the chart as a Vega-Lite specification.

    Raises
    ------
    ValueError
        If there is nothing to draw.
    """
    from pipeline.report.charts.points import planning_chart  # noqa: PLC0415  takes long
    from pipeline.report.charts.style import SCREEN  # noqa: PLC0415  takes long

    lines = _lines(curves)
    marked = None if points is None else _lines(points, names_of=curves)
    goals = [] if points is None else points["wanted"].drop_nulls().unique().sort().to_list()
    power = "power_1" in curves.columns
    title = "power (%)" if power else "expected width of the interval (percentage points)"
    return planning_chart(
        lines, y_title=title, marked=marked, goals=[100 * goal for goal in goals],
        y_max=100.0 if power else None, look=look or SCREEN,
    )  # fmt: skip


def rate_grid(last: float, *, first: float = 0.0, points: int = GRID) -> list[float]:
    """Return sampling rates above `first` and up to `last`, denser where lines are steep.

    Examples
    --------
    >>> rate_grid(0.2, points=4)
    [0.025, 0.070711, 0.129904, 0.2]
    """
    return [round(first + (last - first) * (i / points) ** 1.5, 6) for i in range(1, points + 1)]


def _lines(table: pl.DataFrame, *, names_of: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return line, rate and y in per cent."""
    line = _name(table if names_of is None else names_of)
    y = "width"
    if "power_1" in table.columns:
        # the power is the probability of finding the better measure better
        table = table.with_columns(
            power=pl.when(pl.col("difference") >= 0).then("power_1").otherwise("power_2")
        )
        y = "power"
    return table.select(line.alias("line"), rate=100 * pl.col("rate"), y=100 * pl.col(y))


def _name(table: pl.DataFrame) -> pl.Expr:
    """Return what distinguishes the lines: n, the precision, or both."""
    grouped = pl.col("n").map_elements(lambda n: f"{n:,}", return_dtype=pl.String)
    n = pl.format("n = {}", grouped)
    if "precision" not in table.columns or table["precision"].n_unique() == 1:
        return n
    precision = pl.format("p = {} %", (100 * pl.col("precision")).round(2))
    return precision if table["n"].n_unique() == 1 else pl.format("{}, {}", n, precision)


# Plans for declared questions: sentences and table

TITLES = {
    "simple": "simple", "pooled": "pooled", "stratified": "stratified", "designed": "designed",
    "assisted": "with predictions",
}  # fmt: skip
"""Titles of the plans."""
_PLAN_TEXTS = {
    "simple": "from a simple sample of all candidates",
    "pooled": "from one of the candidates in question only",
    "stratified": "from a stratified one", "designed": "designed", "assisted": "with predictions",
}  # fmt: skip
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def sentence(table: pl.DataFrame, *, power: bool) -> str:
    """Return the labels that all questions together need, as a sentence.

    Parameters
    ----------
    table : DataFrame
        From `plan_design`.
    power : bool
        Whether the target is a power.

    Examples
    --------
    >>> rows = [("simple", 1, "mi at 5", 40), ("simple", 1, TOGETHER, 40),
    ...         ("simple", 4, "mi at 5", 44), ("simple", 4, TOGETHER, 44)]
    >>> plan = pl.DataFrame(rows, schema=["plan", "looks", "question", "labels"], orient="row")
    >>> print(sentence(plan.with_columns(wanted=0.05, rho2_judged=None), power=False)[:63])
    1 question at ±5 points needs 40 labels from a simple sample of
    """
    rows = table.filter(question=TOGETHER)
    single = rows.filter(looks=1)
    amounts = dict(_amounts(table).filter(question=TOGETHER, looks=1).select("plan", "text").rows())
    count = table.filter(pl.col("question") != TOGETHER, looks=1)["question"].n_unique()
    if single["labels"].null_count() == single.height:
        return f"Not all {count:,} questions can reach this goal: see which have no number."
    goal = f"{100 * single['wanted'][0]:g}"
    what = f"with a power of {goal} %" if power else f"at ±{goal} points"
    many = f"{count:,} questions {what} need" if count > 1 else f"1 question {what} needs"
    parts = [f"{amount}{' labels' if at == 0 else ''} {_PLAN_TEXTS[plan]}"
            for at, (plan, amount) in enumerate(amounts.items())]  # fmt: skip
    return f"{many} {', '.join(parts)}{_with_looks(table)}."


def _amounts(table: pl.DataFrame) -> pl.DataFrame:
    """Add the labels as text: a range where it is only assumed how much predictions explain."""
    key = ["question", "looks"]
    without = table.filter(plan="designed").select(*key, without="labels")
    joined = table.join(without, on=key, how="left", maintain_order="left")
    return joined.with_columns(
        text=pl.struct("labels", "without", "rho2_judged", "plan").map_elements(
            _amount_of_row, return_dtype=pl.String
        )
    )


def _amount_of_row(row: dict[str, Any]) -> str:
    labels, without = row["labels"], row["without"]
    if row["plan"] != "assisted" or row["rho2_judged"] != 0 or labels == without:
        return _amount(labels)
    if labels is None or without is None:
        return f"from {_amount(labels)}"
    return f"{min(labels, without):,} to {max(labels, without):,}"


def _with_looks(table: pl.DataFrame) -> str:
    more = _amounts(table).filter(pl.col("looks") > 1, question=TOGETHER)
    if more.is_empty():
        return ""
    looks = int(more["looks"][0])
    amounts = more["text"].to_list()
    text = " and ".join(filter(None, [", ".join(amounts[:-1]), amounts[-1]]))
    return f"; with {_NUMBERS[looks] if looks < len(_NUMBERS) else f'{looks:,}'} looks {text}"


def _amount(labels: int | None) -> str:
    return "more than there are" if labels is None else f"{labels:,}"


def hardest(table: pl.DataFrame) -> str:
    """Return the question that needs most labels, by plan.

    Examples
    --------
    >>> plan = pl.DataFrame({
    ...     "plan": ["simple", "designed"], "looks": 1, "question": ["mi at 5", "baseline"],
    ...     "hardest": True,
    ... })
    >>> hardest(plan)
    'hardest: mi at 5 (simple), baseline (designed)'
    """
    first = table.filter("hardest", looks=1).unique("plan", keep="first", maintain_order=True)
    plans = dict(first.select("plan", "question").rows())
    if len(set(plans.values())) == 1:
        return f"hardest: {next(iter(plans.values()))}, under every plan"
    parts = (f"{question} ({TITLES[plan]})" for plan, question in plans.items())
    return f"hardest: {', '.join(parts)}"


def wide(table: pl.DataFrame) -> pl.DataFrame:
    """Return a row per question with the labels under each plan; interim looks in the last row.

    Labels with predictions are a range, as text, where it is assumed how much these explain.

    Examples
    --------
    >>> rows = [("simple", 1, "mi at 5", 0.3, 40), ("simple", 1, TOGETHER, None, 40),
    ...         ("simple", 4, "mi at 5", 0.3, 44), ("simple", 4, TOGETHER, None, 44)]
    >>> names = ["plan", "looks", "question", "expected", "labels"]
    >>> plan = pl.DataFrame(rows, schema=names, orient="row").with_columns(rho2_judged=None)
    >>> for row in wide(plan).rows():
    ...     print(row)
    ('mi at 5', 30.0, 40)
    ('all questions', None, 40)
    ('all, with 4 looks', None, 44)
    """
    looked = pl.format("all, with {} looks", "looks")
    rows = (
        _amounts(table)
        .filter((pl.col("looks") == 1) | (pl.col("question") == TOGETHER))
        .with_columns(question=pl.when(pl.col("looks") > 1).then(looked).otherwise("question"))
    )
    plans = rows.select(
        "question",
        (100 * pl.col("expected")).round(1).alias("expected %"),
        plan=pl.col("plan").replace(TITLES),
        labels="labels",
        text="text",
    )
    key = ["question", "expected %"]
    labels = plans.pivot("plan", index=key, values="labels", maintain_order=True)
    assisted = TITLES["assisted"]
    ranged = table.filter(plan="assisted", rho2_judged=0).height > 0
    if not ranged:
        return labels
    texts = plans.pivot("plan", index=key, values="text", maintain_order=True)
    return labels.with_columns(texts[assisted])


def added_text(added: pl.DataFrame) -> pl.DataFrame:
    """Return the table of added questions for people: further ones have a plus.

    Examples
    --------
    >>> rows = [("mi at 5", True, 40, 40), ("mi at 9", False, 30, 52)]
    >>> names = ["question", "asked", "alone", "labels"]
    >>> added_text(pl.DataFrame(rows, schema=names, orient="row")).rows()
    [('mi at 5', 40, 40), ('+ mi at 9', 30, 52)]
    """
    further = pl.format("+ {}", "question")
    return added.select(
        pl.when("asked").then("question").otherwise(further).alias("question added"),
        pl.col("alone").alias("labels for it alone"),
        pl.col("labels").alias("labels in sum"),
    )


# The options of sample.design that draw the planned sample


def design_options(planner: Planner, size: int) -> dict[str, Any]:
    """Return the options of `sample.design` that draw the designed sample of a plan.

    Parameters
    ----------
    planner : Planner
        The plans.
    size : int
        Number of labels.

    Returns
    -------
    dict
        measures, cuts, pairs, weights, baseline, size, and floor and baseline_width, where these or
        the weights are not the defaults of the stage. Questions without the goal have weight 0.
    """
    selection, config = planner.selection, planner.selection.config
    used = selection.questions.filter(pl.col("weight") > 0)
    pairs = (
        used.filter(kind="difference").select("measure", "measure_2").unique(maintain_order=True)
    )
    measures = {*used["measure"].drop_nulls(), *used["measure_2"].drop_nulls()}
    measures = measures or set(selection.measures[:1])
    cuts = used.filter(pl.col("kind") != "baseline")["n"].unique().sort().to_list()
    options: dict[str, Any] = {
        "measures": sorted(measures),
        "cuts": cuts or [int(n) for n in selection.sets.n[:1]],
        "pairs": [list(pair) for pair in pairs.iter_rows()],
        "baseline": not used.filter(kind="baseline").is_empty(),
        "weights": _weights(selection.questions, measures, cuts, pairs.rows()),
        "size": size,
    }
    defaults = type(config).model_fields
    names = ("floor", "baseline_width")
    options |= {k: v for k in names if (v := getattr(config, k)) != defaults[k].default}
    return {k: v for k, v in options.items() if v not in ([], {}, True)}


def _weights(
    questions: pl.DataFrame, measures: set[str], cuts: list[int], pairs: list[tuple[str, str]]
) -> dict[str, float]:
    """Return the weights of the questions that these options make: by kind, exceptions by name."""
    pair = pl.concat_str("measure", "measure_2", separator="\t")
    selection = questions.filter(
        (pl.col("kind") == "baseline") | pl.col("n").is_in(cuts),
        (pl.col("kind") != "precision") | pl.col("measure").is_in(list(measures)),
        (pl.col("kind") != "difference") | pair.is_in(["\t".join(each) for each in pairs]),
    )
    weights: dict[str, float] = {}
    for kind in KINDS:
        own = selection.filter(kind=kind).select("question", "weight").rows()
        usual = Counter(weight for _, weight in own).most_common(1)[0][0] if own else 0.0
        if kind == "difference" and not pairs:
            usual = 0.0 if len(measures) > 1 else 1.0  # no pairs would mean all of them
        if usual != 1.0 and not (kind == "baseline" and usual == 0.0):
            weights[kind] = usual
        weights |= {name: weight for name, weight in own if weight != usual}
    return weights


def options_text(options: dict[str, Any]) -> str:
    """Return options as lines of TOML.

    Examples
    --------
    >>> print(options_text({"cuts": [100], "baseline": False, "weights": {"mi at 100": 2.0}}))
    cuts = [100]
    baseline = false
    weights = { "mi at 100" = 2.0 }
    """
    return "\n".join(f"{name} = {_toml(value)}" for name, value in options.items())


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_toml(k)} = {_toml(v)}' for k, v in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


# Chart of plans for declared questions: the hardest one, by labels

_GRID = 32


def design_spec(
    planner: Planner, table: pl.DataFrame, *, look: Look | None = None
) -> dict[str, Any]:
    """Return a chart with a line per plan as a Vega-Lite specification.

    Parameters
    ----------
    planner : Planner
        The plans.
    table : DataFrame
        Their table; the labels for all questions together, in one look, are marked.
    look : Look, optional
        Style and size, see `pipeline.report.charts`.
    """
    from pipeline.report.charts.points import planning_chart  # noqa: PLC0415  takes long
    from pipeline.report.charts.style import SCREEN  # noqa: PLC0415  takes long

    together = table.filter(question=TOGETHER, looks=1).drop_nulls("labels")
    power = planner.target.power is not None
    marked = together.select("plan", "labels", y=pl.col("wanted"))
    titles = TITLES | {"assisted": _assisted_title(planner)}
    return planning_chart(
        _design_lines(curves(planner, _sizes(planner, together)), titles),
        marked=_design_lines(marked, titles),
        goals=[100 * planner.goal], x_title="labels", x_format=",.0f", y_title=_y_title(planner),
        y_max=100.0 if power else None, look=look or SCREEN,
    )  # fmt: skip


def _assisted_title(planner: Planner) -> str:
    """Return the title of the line with predictions, with what is assumed without a pilot."""
    if planner.judged:
        return TITLES["assisted"]
    return f"{TITLES['assisted']}, if rho² = {float(planner.expectations.rho2.max()):g}"


def _y_title(planner: Planner) -> str:
    many = "the hardest question" if planner.mask.sum() > 1 else "the question"
    if planner.target.power is not None:
        return f"power for {many} (%)"
    return f"expected half-width of {many} (percentage points)"


def _sizes(planner: Planner, together: pl.DataFrame) -> list[int]:
    """Return sizes up to slightly more than any plan needs, denser where lines are steep."""
    most = together["labels"].max()
    last = (
        min(planner.candidates, round(1.1 * int(most))) if isinstance(most, int) else 0
    )  # null: never
    last = last or planner.candidates
    return sorted({max(1, round(last * ((i + 1) / _GRID) ** 1.5)) for i in range(_GRID)})


def _design_lines(table: pl.DataFrame, titles: dict[str, str]) -> pl.DataFrame:
    place = {name: at for at, name in enumerate(PLANS)}
    return table.sort(pl.col("plan").replace_strict(place), "labels").select(
        line=pl.col("plan").replace_strict(titles),
        rate=pl.col("labels").cast(pl.Float64),
        y=100.0 * pl.col("y"),
    )
