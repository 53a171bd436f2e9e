"""Plans for declared questions, in a sentence and in a table for people."""

from __future__ import annotations

import polars as pl

from pipeline.sizing.designs import TOGETHER

TITLES = {
    "simple": "simple", "stratified": "stratified", "designed": "designed",
    "assisted": "with predictions",
}  # fmt: skip
"""What each plan is called."""
_SAID = {
    "simple": "from a simple sample", "stratified": "from a stratified one",
    "designed": "designed", "assisted": "with predictions",
}  # fmt: skip
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def sentence(table: pl.DataFrame, *, power: bool) -> str:
    """Return what all questions need together, in a sentence.

    Parameters
    ----------
    table : DataFrame
        From `plan_design`.
    power : bool
        Whether a power was asked for.

    Examples
    --------
    >>> rows = [("simple", 1, "mi at 5", 40), ("simple", 1, TOGETHER, 40),
    ...         ("simple", 4, "mi at 5", 44), ("simple", 4, TOGETHER, 44)]
    >>> plan = pl.DataFrame(rows, schema=["plan", "looks", "question", "labels"], orient="row")
    >>> sentence(plan.with_columns(wanted=0.05), power=False)
    '1 question at ±5 points needs 40 labels from a simple sample; with four looks 44.'
    """
    rows = table.filter(question=TOGETHER)
    single = rows.filter(looks=1)
    count = table.filter(pl.col("question") != TOGETHER, looks=1)["question"].n_unique()
    if single["labels"].null_count() == single.height:
        return f"Not all {count:,} questions can be answered so surely: see which have no number."
    goal = f"{100 * single['wanted'][0]:g}"
    what = f"with a power of {goal} %" if power else f"at ±{goal} points"
    many = f"{count:,} questions {what} need" if count > 1 else f"1 question {what} needs"
    plans = single.select("plan", "labels").rows()
    said = [f"{_amount(labels)}{' labels' if at == 0 else ''} {_SAID[plan]}"
            for at, (plan, labels) in enumerate(plans)]  # fmt: skip
    return f"{many} {', '.join(said)}{_with_looks(rows)}."


def _with_looks(rows: pl.DataFrame) -> str:
    more = rows.filter(pl.col("looks") > 1)
    if more.is_empty():
        return ""
    looks = int(more["looks"][0])
    amounts = [_amount(labels) for labels in more["labels"]]
    text = " and ".join(filter(None, [", ".join(amounts[:-1]), amounts[-1]]))
    return f"; with {_NUMBERS[looks] if looks < len(_NUMBERS) else f'{looks:,}'} looks {text}"


def _amount(labels: int | None) -> str:
    return "more than there are" if labels is None else f"{labels:,}"


def hardest(table: pl.DataFrame) -> str:
    """Return which question needs the most labels, plan by plan.

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
    shown = (f"{question} ({TITLES[plan]})" for plan, question in plans.items())
    return f"hardest: {', '.join(shown)}"


def wide(table: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each question with what it needs under each plan; looks in the last row.

    Examples
    --------
    >>> rows = [("simple", 1, "mi at 5", 0.3, 40), ("simple", 1, TOGETHER, None, 40),
    ...         ("simple", 4, "mi at 5", 0.3, 44), ("simple", 4, TOGETHER, None, 44)]
    >>> names = ["plan", "looks", "question", "expected", "labels"]
    >>> for row in wide(pl.DataFrame(rows, schema=names, orient="row")).rows():
    ...     print(row)
    ('mi at 5', 30.0, 40)
    ('all questions', None, 40)
    ('all, with 4 looks', None, 44)
    """
    looked = pl.format("all, with {} looks", "looks")
    kept = table.filter((pl.col("looks") == 1) | (pl.col("question") == TOGETHER)).with_columns(
        question=pl.when(pl.col("looks") > 1).then(looked).otherwise("question")
    )
    named = kept.select(
        "question",
        (100 * pl.col("expected")).round(1).alias("expected %"),
        plan=pl.col("plan").replace(TITLES),
        labels="labels",
    )
    return named.pivot(
        "plan", index=["question", "expected %"], values="labels", maintain_order=True
    )
