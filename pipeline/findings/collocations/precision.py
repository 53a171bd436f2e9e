"""Findings on n-best precision and average precision: highest estimates, choices, cautions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.findings import phrases
from pipeline.findings.base import Finding, StageOptions, StageView, finder
from pipeline.findings.phrases import highest, name_text
from pipeline.kernels.measure import measure_title
from pipeline.kernels.nbest.precision import ranked_candidates
from pipeline.remarks.collocations import FEWEST_DRAWS
from schemas.errors import count_text

SAME = ("ranks", "judgements", "sample")
"""Options that are equal in stages about the same lists."""


def stages_on_same_lists(stage: StageView, use: str) -> Iterator[StageView]:
    """Yield the stages of a kind that use the same ranks, judgements and sample.

    Parameters
    ----------
    stage : StageView
        A stage with these three options; the sample may be absent.
    use : str
        A kind of stages with the same options.
    """
    mine = [stage.inputs.get(option) for option in SAME]
    for other in stage.stages.values():
        if other.use == use and [other.inputs.get(option) for option in SAME] == mine:
            yield other


def categories(*tables: pl.DataFrame) -> list[str]:
    """Return the categories of true positives in tables, in alphabetical order."""
    return sorted({category for table in tables for category in table["category"]})


def category_suffix(category: str, among: list[str]) -> str:
    """Return a category in parentheses; nothing if there is only one.

    Examples
    --------
    >>> category_suffix("figur", ["figur", "TP"]), category_suffix("TP", ["TP"])
    (' (figur)', '')
    """
    return f" ({category})" if len(among) > 1 else ""


def row_of(table: pl.DataFrame, **key: Any) -> dict[str, Any] | None:
    """Return the row with these values; None if there is none.

    Examples
    --------
    >>> row_of(pl.DataFrame({"n": [100, 500], "k": [3, 9]}), n=500)
    {'n': 500, 'k': 9}
    """
    rows = table.filter(pl.all_horizontal(pl.col(name) == value for name, value in key.items()))
    return rows.row(0, named=True) if rows.height else None


def n_candidates(stage: StageView) -> int:
    """Return the number of ranked candidates."""
    ranked = ranked_candidates(stage.table(stage.inputs["ranks"]))
    return int(ranked.select(pl.len()).collect().item())


# Average precision.


@finder(stages=("evaluate.average_precision",), place=25)
def average_precisions(stage: StageView) -> Iterator[Finding]:
    """Give the highest average precision with its limits, then the others with theirs."""
    every = stage.table("average_precision").collect()
    among = categories(every)
    for category in among:
        known = every.filter(category=category).drop_nulls("average_precision")
        ordered = known.sort("average_precision", "measure", descending=[True, False])
        if ordered.height:
            yield from _highest_average(ordered, category_suffix(category, among))


def _highest_average(ordered: pl.DataFrame, of: str) -> Iterator[Finding]:
    first = ordered.row(0, named=True)
    upto = f" up to a recall of {100 * first['recall']:g} %" if first["recall"] < 1 else ""
    question = f"average precision{upto}{of}"
    facts: dict[str, Any] = {
        "question": question, "category": first["category"], "figure": "average-precision",
    }  # fmt: skip
    tied = ordered.filter(pl.col("average_precision") == first["average_precision"])
    names = tuple(measure_title(name) for name in tied["measure"])
    text = f"{highest(question, names, _estimate(first))}{_inference_base(first)}"
    yield Finding(
        about="highest", text=phrases.sentence(text), name=first["measure"], names=names,
        n=first["n_sampled"], value=first["average_precision"], lower=first["lower"],
        upper=first["upper"], **facts,
    )  # fmt: skip
    others = ordered.slice(tied.height)
    if others.height:
        yield _other_averages(others, first, facts)


def _other_averages(others: pl.DataFrame, first: dict[str, Any], facts: dict[str, Any]) -> Finding:
    """Give the others; where they are estimates, say that they were not tested."""
    texts = [f"{measure_title(row['measure'])} {_estimate(row)}" for row in others.rows(named=True)]
    text = f"next: {phrases.list_text(texts)}"
    if first["lower"] < first["upper"]:
        text += f"; {_UNTESTED}"
    second = others.row(0, named=True)
    return Finding(
        about="next", text=phrases.sentence(text), name=second["measure"], other=first["measure"],
        value=second["average_precision"], lower=second["lower"], upper=second["upper"], **facts,
    )  # fmt: skip


_UNTESTED = "differences between measures were not tested"


def _estimate(row: dict[str, Any]) -> str:
    """Return an estimate with its limits; without limits if everything is judged.

    Examples
    --------
    >>> _estimate({"average_precision": 0.25, "lower": 0.2, "upper": 0.3})
    '25.0 % [20.0, 30.0]'
    >>> _estimate({"average_precision": 0.25, "lower": 0.25, "upper": 0.25})
    '25.0 %'
    """
    exact = row["lower"] == row["upper"]
    limits = (None, None) if exact else (row["lower"], row["upper"])
    return phrases.estimate(row["average_precision"], *limits)


def _inference_base(row: dict[str, Any]) -> str:
    """Say how many judged candidates the estimate is based on."""
    if row["lower"] == row["upper"]:
        base = ""
        if row["base"] != "ranked":
            whole = "list" if row["base"] == "gold" else "list among all candidates"
            base = f"; recall over the {row['positives']:,} positives of the {whole}"
        return f" ({count_text(row['n_candidates'], 'candidate')}, all judged{base})"
    return f", estimated from {row['n_sampled']:,} judged of {row['n_candidates']:,} candidates"


# Chosen lists, and unranked sets.


class GuaranteeOptions(StageOptions):
    """The guarantee that was requested for a choice."""

    guarantee: bool
    min_precision: float | None
    confidence: float


@finder(stages=("evaluate.choice",), place=5)
def chosen_list(stage: StageView) -> Iterator[Finding]:
    """Name the chosen list, with limits that account for the choice."""
    rows = stage.table("choice").collect().sort("category")
    for row in rows.iter_rows(named=True):
        of = category_suffix(row["category"], categories(rows))
        ranks = stage.source_stage("ranks")
        pooled = ranks is not None and ranks.use == "score.pool"
        yield _choice(row, of, pooled=pooled)
        options = stage.options_as(GuaranteeOptions)
        if options.guarantee and options.min_precision is not None:
            tests = stage.table("guarantee").filter(category=row["category"]).collect()
            yield _guarantee(row, tests, of, options)


def _choice(row: dict[str, Any], of: str, *, pooled: bool) -> Finding:
    lower, upper = row["lower_simultaneous"], row["upper_simultaneous"]
    within = " within the pool" if pooled else ""
    share = row["recall"]
    recall = "" if share is None else f", recall{within} {phrases.per_cent(share)}"
    phrase = phrases.estimate(row["precision"], lower, upper, of=phrases.TRUE_POSITIVES)
    text = (
        f"chosen{of}: the top {row['n']:,} by {measure_title(row['measure'])}, "
        f"{phrase}{recall}; the limits "
        f"account for the choice among {count_text(row['considered'], 'list')}"
    )
    return Finding(
        about="chosen", text=phrases.sentence(text), question=f"chosen list{of}",
        category=row["category"], name=row["measure"], n=row["n"], value=row["precision"],
        lower=lower, upper=upper,
    )  # fmt: skip


def _guarantee(
    row: dict[str, Any], tests: pl.DataFrame, of: str, options: GuaranteeOptions
) -> Finding:
    """Give the guaranteed precision of the chosen list, with its limit."""
    mine = tests.filter(measure=row["measure"], n=row["n"]).row(0, named=True)
    others = int(tests["passed"].sum()) - 1
    text = (
        f"guaranteed: with {100 * options.confidence:g} % confidence, its precision is at least "
        f"{phrases.per_cent(options.min_precision or 0.0)} (one-sided lower limit "
        f"{phrases.per_cent(mine['lower_one_sided'])}); "
        f"{count_text(others, 'other list')} also passed the test"
    )
    return Finding(
        about="guaranteed", text=phrases.sentence(text), question=f"chosen list{of}",
        category=row["category"], name=row["measure"], n=row["n"], value=options.min_precision,
        lower=mine["lower_one_sided"],
    )  # fmt: skip


class Level(StageOptions):
    """The level of a stage's tests."""

    alpha: float


@finder(stages=("evaluate.subset",), place=30)
def sets_beside_lists(stage: StageView) -> Iterator[Finding]:
    """Give the precision of each set, and compare it with lists of the same size."""
    sets, tests = stage.table("subsets").collect(), stage.table("comparison").collect()
    alpha, among = stage.options_as(Level).alpha, categories(sets)
    for row in sets.sort("category", "n", "subset").iter_rows(named=True):
        if row["precision"] is None:
            continue
        question = f"the set {name_text(row['subset'])}{category_suffix(row['category'], among)}"
        limits = row["lower"], row["upper"]
        phrase = phrases.estimate(row["precision"], *limits, of=phrases.TRUE_POSITIVES)
        facts: dict[str, Any] = {
            "question": question, "category": row["category"], "n": row["n"], "figure": stage.name,
        }  # fmt: skip
        text = f"{question}: {count_text(row['n'], 'candidate')}, {phrase}"
        yield Finding(
            about="set", text=phrases.sentence(text), name=row["subset"], value=row["precision"],
            lower=row["lower"], upper=row["upper"], **facts,
        )  # fmt: skip
        mine = tests.filter(subset=row["subset"], category=row["category"])
        yield from _compare_lists(mine, row["subset"], facts, alpha)


def _compare_lists(
    tests: pl.DataFrame, subset: str, facts: dict[str, Any], alpha: float
) -> Iterator[Finding]:
    """Compare the set with lists of the same size: list minus set."""
    rows = tests.select("measure", "difference", "p_adjusted").drop_nulls().sort("measure").rows()
    lists = [phrases.Difference(f"{measure_title(m)}", -difference, p) for m, difference, p in rows]
    sure = [each for each in lists if each.p_adjusted < alpha]
    below = [each for each in sure if each.difference < 0]
    above = [each for each in sure if each.difference > 0]
    for some, say in ((below, phrases.worse), (above, phrases.better)):
        if some:
            most = max(some, key=lambda each: abs(each.difference))
            text = f"at the same list size, {say(some, alpha=alpha, than='the set')}"
            yield Finding(
                about=say.__name__, text=phrases.sentence(text), name=subset, other=most.name,
                value=most.difference, p_adjusted=most.p_adjusted, **facts,
            )  # fmt: skip
    open_ = [each for each in lists if each not in sure]
    if open_:
        text = phrases.not_different(open_, alpha=alpha, of="list of the same size", than="the set")
        yield Finding(
            about="together",
            text=phrases.sentence(text),
            name=subset,
            value=float(len(open_)),
            **facts,
        )


# Correction for annotator errors.


@finder(stages=("evaluate.precision",), place=22)
def corrected_precision(stage: StageView) -> Iterator[Finding]:
    """Give the corrected precision of the list with most true positives at each size."""
    every = stage.table("corrected").collect()
    among = categories(every)
    lists = every.drop_nulls(["precision", "corrected"])
    order = ["category", "n", "precision", "measure"]
    ordered = lists.sort(order, descending=[False, False, True, False])
    for row in ordered.unique(["category", "n"], keep="first", maintain_order=True).rows(
        named=True
    ):
        yield _correction(row, category_suffix(row["category"], among))


def _correction(row: dict[str, Any], of: str) -> Finding:
    rates = (
        f"sensitivity {phrases.per_cent(row['sensitivity'])}, "
        f"specificity {phrases.per_cent(row['specificity'])}"
    )
    limits = row["lower_corrected"], row["upper_corrected"]
    phrase = phrases.estimate(row["corrected"], *limits, of=phrases.TRUE_POSITIVES)
    text = (
        f"corrected for annotator errors ({rates}): {phrase} among the top "
        f"{row['n']:,} by {measure_title(row['measure'])}, compared with "
        f"{phrases.per_cent(row['precision'])} as judged"
    )
    return Finding(
        about="corrected", text=phrases.sentence(text), question=f"corrected precision{of}",
        category=row["category"], name=row["measure"], n=row["n"], value=row["corrected"],
        lower=row["lower_corrected"], upper=row["upper_corrected"],
    )  # fmt: skip


# Cautions and the highest estimates.

FEW = 30
"""Lists with fewer judged draws cause a caution."""
WIDE_TIES = 0.01
"""Ties cause a caution if they change the precision of a list by more than this."""


@finder(stages=("evaluate.precision",), place=60)
def few_draws(stage: StageView) -> Iterator[Finding]:
    """Name the declared sizes with few judged draws, and how few there are."""
    lists = stage.table("cuts").collect()
    among = categories(lists)
    for category in among:
        few = pl.min_horizontal(pl.col("n"), FEW) > pl.col("n_sampled")
        mine = lists.filter(pl.col("category") == category, few)
        if mine.is_empty():
            continue
        sizes = [f"{n:,}" for n in sorted(set(mine["n"]))]
        fewest = mine.sort("n_sampled", "n", "measure").row(0, named=True)
        width = fewest["upper"] - fewest["lower"]
        text = (
            f"few judged candidates{category_suffix(category, among)}: lists of size "
            f"{phrases.list_text(sizes)} have fewer than {FEW}; the list of {fewest['n']:,} by "
            f"{measure_title(fewest['measure'])} has {fewest['n_sampled']:,}, and its interval is "
            f"{100 * width:.0f} points wide"
        )
        yield Finding(
            kind="caution", about="few", text=phrases.sentence(text), category=category,
            name=fewest["measure"], n=fewest["n"], value=float(fewest["n_sampled"]),
        )  # fmt: skip


@finder(stages=("evaluate.precision",), place=61)
def ties_at_the_cut(stage: StageView) -> Iterator[Finding]:
    """Say how much the order of equal scores may change the precision of a list."""
    judged = pl.col("n_sampled") > 0
    span = (pl.col("tp_max") - pl.col("tp_min")) / pl.col("n_sampled")
    tied = stage.table("cuts").filter(judged).with_columns(span=span).collect()
    wide = tied.filter(pl.col("span") > WIDE_TIES).sort(
        ["span", "n", "measure"], descending=[True, False, False]
    )
    for (measure,), rows in wide.group_by("measure", maintain_order=True):
        yield _tie_caution(str(measure), rows.row(0, named=True), rows["n"].n_unique())


def _tie_caution(measure: str, row: dict[str, Any], sizes: int) -> Finding:
    # Another order may bring other judged candidates into the list: there is no common denominator.
    others = count_text(sizes - 1, "other size")
    more = f"; {others} {'is' if sizes == 2 else 'are'} also affected" if sizes > 1 else ""
    text = (
        "ties at the cut: depending on the order of candidates with equal scores, the top "
        f"{row['n']:,} by {measure_title(measure)} contain between {row['tp_min']:,} and "
        f"{row['tp_max']:,} judged true positives; as ranked, {row['k_sampled']:,} of "
        f"{row['n_sampled']:,} judged candidates{more}"
    )
    return Finding(
        kind="caution", about="ties", text=phrases.sentence(text), category=row["category"],
        name=measure, n=row["n"], value=float(row["k_sampled"]), lower=float(row["tp_min"]),
        upper=float(row["tp_max"]),
    )  # fmt: skip


@finder(stages=("evaluate.precision",), place=62)
def unjudged_draws(stage: StageView) -> Iterator[Finding]:
    """Say how many draws have no judgement, and how much they could matter."""
    baselines = stage.table("baseline").collect()
    among = categories(baselines)
    for row in baselines.sort("category").iter_rows(named=True):
        lost = row["n_unjudged"] + row["n_undecided"]
        if not lost or not row["n_drawn"]:
            continue
        least, most = row["k_sampled"] / row["n_drawn"], (row["k_sampled"] + lost) / row["n_drawn"]
        text = (
            f"of {count_text(row['n_drawn'], 'draw')}"
            f"{category_suffix(row['category'], among)}, {_lost_draws(row)} (excluded): the "
            f"baseline would be {phrases.per_cent(least)} counting these as false positives, and "
            f"{phrases.per_cent(most)} counting them as true positives"
        )
        yield Finding(
            kind="caution", about="unjudged", text=phrases.sentence(text), category=row["category"],
            n=row["n_drawn"], value=float(lost), lower=least, upper=most,
        )  # fmt: skip


def _lost_draws(row: dict[str, Any]) -> str:
    """Count the draws that were excluded, by reason.

    Examples
    --------
    >>> _lost_draws({"n_unjudged": 3, "n_undecided": 1})
    '3 are unjudged and 1 has conflicting judgements'
    """
    unjudged, undecided = row["n_unjudged"], row["n_undecided"]
    parts = [f"{unjudged:,} {'is' if unjudged == 1 else 'are'} unjudged"] if unjudged else []
    if undecided:
        parts.append(f"{undecided:,} {'has' if undecided == 1 else 'have'} conflicting judgements")
    return " and ".join(parts)


@finder(stages=("evaluate.precision",), place=20)
def highest_estimates(stage: StageView) -> Iterator[Finding]:
    """Name the measure with the highest estimate at each size, unless there are tests."""
    tests = list(stages_on_same_lists(stage, "evaluate.comparison"))
    if any(not other.table("best").collect().is_empty() for other in tests):
        return
    lists, baselines = (stage.table(name).collect() for name in ("cuts", "baseline"))
    among = categories(lists)
    untested = not any(other.table("cuts").collect().height for other in tests)
    for category in among:
        mine = lists.filter(pl.col("category") == category, pl.col("precision").is_not_null())
        of = category_suffix(category, among)
        for place, n in enumerate(mine["n"].unique().sort()):
            yield from _highest(mine.filter(n=n), stage, of, untested=untested and not place)
        known = row_of(baselines, category=category)
        if known and known["precision"] is not None:
            yield baseline_finding(known, of, n=known["n_candidates"])


FEW_JUDGEMENTS = "few judgements"


def _highest(
    lists: pl.DataFrame, stage: StageView, of: str, *, untested: bool
) -> Iterator[Finding]:
    """Give the highest estimate of one size, and the others."""
    ordered = lists.sort(["precision", "measure"], descending=[True, False])
    first, others = ordered.row(0, named=True), ordered.slice(1)
    question = f"highest estimate for {first['n']:,} candidates{of}"
    facts: dict[str, Any] = {
        "question": question, "category": first["category"], "n": first["n"],
        "figure": stage.name,
    }  # fmt: skip
    if first["n_sampled"] < min(FEWEST_DRAWS, first["n"]):
        text = phrases.too_few_judgements(question, first["n_sampled"], FEWEST_DRAWS)
        yield Finding(about=FEW_JUDGEMENTS, text=text, value=float(first["n_sampled"]), **facts)
        return
    limits = first["lower"], first["upper"]
    phrase = phrases.estimate(first["precision"], *limits, of=phrases.TRUE_POSITIVES)
    text = f"{question}: {measure_title(first['measure'])}, {phrase}"
    yield Finding(
        about="highest", text=phrases.sentence(text), name=first["measure"],
        value=first["precision"], lower=first["lower"], upper=first["upper"], **facts,
    )  # fmt: skip
    if others.height:
        second = others.row(0, named=True)
        text = _other_measures(others) + (f"; {_UNTESTED}" if untested else "")
        yield Finding(
            about="next", text=phrases.sentence(text), name=second["measure"],
            other=first["measure"], value=second["precision"], lower=second["lower"],
            upper=second["upper"], **facts,
        )  # fmt: skip


def _other_measures(lists: pl.DataFrame) -> str:
    names = [
        f"{measure_title(name)} {phrases.per_cent(precision)}"
        for name, precision in lists.select("measure", "precision").rows()
    ]
    return f"next: {phrases.list_text(names)}"


def baseline_finding(known: dict[str, Any], of: str, *, n: int) -> Finding:
    """Return the finding on a baseline with its limits, from a row of a table of baselines."""
    phrase = phrases.estimate(known["precision"], known["lower"], known["upper"])
    return Finding(
        about="baseline", text=phrases.sentence(f"the baseline{of} is {phrase}"),
        question=f"baseline{of}", category=known["category"], value=known["precision"],
        lower=known["lower"], upper=known["upper"], n=n,
    )  # fmt: skip


# Interim analyses: the current look at a growing sample.

STAGES = ("evaluate.precision", "evaluate.comparison", "evaluate.designed")


class LookOptions(StageOptions):
    """Whether looks were declared, or limits hold at any time."""

    looks: tuple[float, ...]
    anytime: bool


def current_look(stage: StageView) -> dict[str, Any] | None:
    """Return the current look of a stage, a row of `Looks`; None if none was declared.

    If questions have different levels, the row is that of the first question by name; look, labels
    and share are the same for all.
    """
    if not stage.options_as(LookOptions).looks:
        return None
    now = stage.table("looks").filter("now").sort("category", "question").head(1).collect()
    return now.row(0, named=True) if now.height else None


def look_text(stage: StageView) -> str:
    """Give the number of the current look; an empty text if none was declared.

    Returns
    -------
    str
        "look 2 of 4, at 40 of 80 planned labels", without a full stop.
    """
    now = current_look(stage)
    if now is None:
        return ""
    sizes = stage.table("looks").select("look", "labels").unique().sort("look").collect()
    last = sizes["labels"][-1]
    return f"look {now['look']} of {sizes.height}, at {now['labels']:,} of {last:,} planned labels"


@finder(stages=STAGES, place=50)
def this_look(stage: StageView) -> Iterator[Finding]:
    """Give the current look, and say that limits and tests hold over all looks."""
    now = current_look(stage)
    if now is None:
        return
    text = f"{look_text(stage)}: limits and tests hold simultaneously over all declared looks"
    levels = stage.table("looks").filter("now").select(pl.col("level").drop_nulls()).collect()
    if levels.height:
        low, high = (100.0 * float(each) for each in (levels["level"].min(), levels["level"].max()))  # type: ignore[arg-type]  # a column of numbers
        phrase = f"{low:.2g} %" if f"{low:.2g}" == f"{high:.2g}" else f"{low:.2g} to {high:.2g} %"
        text += f", each at a level of {phrase}"
    yield Finding(
        kind="caution", about="look", text=phrases.sentence(text), value=float(now["look"]),
        n=now["labels"],
    )  # fmt: skip


# Worst cases: the effect of unjudged draws on the lists.


@finder(stages=("evaluate.precision",), place=63)
def worst_cases(stage: StageView) -> Iterator[Finding]:
    """Give the range of precision of the list that unjudged draws affect most."""
    lists = stage.table("worst_case").collect()
    among = categories(lists)
    span = pl.col("precision_if_true") - pl.col("precision_if_false")
    for category in among:
        mine = lists.filter(category=category)
        mine = mine.sort(span, "n", "measure", descending=[True, False, False])
        yield _worst_case(
            mine.row(0, named=True), mine.height - 1, category_suffix(category, among)
        )


def _worst_case(row: dict[str, Any], others: int, of: str) -> Finding:
    """Give it for one list, with the number of other lists."""
    least, most = (phrases.per_cent(row[f"precision_if_{each}"]) for each in ("false", "true"))
    limits = phrases.interval(row["lower_if_false"], row["upper_if_true"])
    known = row["precision"] is not None
    estimate = f", estimated at {phrases.per_cent(row['precision'])}," if known else ""
    are = "is" if others == 1 else "are"
    more = f"; {count_text(others, 'other list')} at the cuts {are} affected less" if others else ""
    none = "is unjudged" if row["n_unjudged"] == 1 else "are unjudged"
    text = (
        f"unjudged draws in the lists{of}: of {count_text(row['n_drawn'], 'draw')} in the "
        f"top {row['n']:,} by {measure_title(row['measure'])}, {row['n_unjudged']:,} {none}; the "
        f"precision{estimate} would be {least} if they were all false positives and {most} if all "
        f"were true positives, and the limits {limits} hold in any case{more}"
    )
    return Finding(
        kind="caution", about="worst_case", text=phrases.sentence(text), category=row["category"],
        name=row["measure"], n=row["n"], value=row["precision"], lower=row["lower_if_false"],
        upper=row["upper_if_true"],
    )  # fmt: skip
