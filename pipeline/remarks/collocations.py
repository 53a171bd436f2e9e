"""Checks of collocation stages: labels, judgements, n-best lists, samples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from pipeline.errors import did_you_mean
from pipeline.kernels.annotation.gold import spelling
from pipeline.kernels.annotation.sheets import fold, is_near
from pipeline.kernels.measure import measure_title
from pipeline.kernels.nbest.precision import ranked_candidates
from pipeline.kernels.partitions import count_rows
from pipeline.remarks.base import EXAMPLES, CheckInput, Found, check, remark
from schemas.errors import count_text

# Labels of annotators.

JOINING = ("join.sheets",)


@check(stages=JOINING, threshold=20, means="candidates with labels of several annotators")
def all_agree(stage: CheckInput, threshold: float) -> Found:
    """Find annotators who agree on every candidate that several of them labelled."""
    several = (
        stage.outputs["annotations"]
        .group_by("id")
        .agg(people=pl.col("annotator").n_unique(), labels=pl.col("label").n_unique())
        .filter(pl.col("people") > 1)
        .select(shared=pl.len(), agreed=(pl.col("labels") == 1).sum())
        .collect()
    )
    shared, agreed = several.row(0)
    if shared >= threshold and agreed == shared:
        yield remark(
            "note",
            f"the annotators agree on all {shared:,} candidates that several of them labelled",
            remedy="make sure that they worked independently, and not only on easy candidates",
            shared=shared,
        )


@check(stages=JOINING, threshold=20, means="labels of one annotator")
def one_label(stage: CheckInput, threshold: float) -> Found:
    """Find annotators who gave everything the same label."""
    people = (
        stage.outputs["annotations"]
        .group_by("annotator")
        .agg(given=pl.len(), labels=pl.col("label").n_unique(), label=pl.col("label").first())
        .filter(pl.col("given") >= threshold, pl.col("labels") == 1)
        .sort("annotator")
        .collect()
    )
    if people.is_empty():
        return
    name, count, _, label = people.row(0)
    yield remark(
        "warning",
        f"{count_text(people.height, 'annotator')} with a single label: {name} {label!r},"
        f" {count:,} times",
        such_as=people["annotator"][1:],
        remedy="ask whether the label was copied down the sheet",
        annotators=people.height,
    )


@check(stages=JOINING, threshold=1, means="labels")
def unasked_annotator(stage: CheckInput, threshold: float) -> Found:
    """Find annotators without a sheet, for example mistyped names."""
    labels = stage.outputs["annotations"].group_by("annotator").agg(given=pl.len())
    former = pl.LazyFrame({"annotator": stage.config.former}, schema={"annotator": pl.String})
    sheets = [stage.inputs[name] for name in ("sheet", "earlier") if name in stage.inputs]
    known = pl.concat(each.select("annotator") for each in [*sheets, former]).unique()
    strange = labels.join(known, on="annotator", how="anti").sort("annotator").collect()
    count = int(strange["given"].sum())
    if count < threshold:
        return
    names = known.collect()["annotator"].sort().to_list()
    first = str(strange["annotator"][0])
    yield remark(
        "warning",
        f"{count_text(count, 'label')} by {count_text(strange.height, 'annotator')} without a sheet"
        f" (those with one: {', '.join(names)}); they count",
        such_as=[f"{name} ({labelled:,})" for name, labelled in strange.iter_rows()],
        remedy=f"correct the name in the sheet; {did_you_mean(first, names)}",
        labels=count,
    )


@check(stages=("evaluate.agreement",), threshold=1, means="annotators with several names")
def several_names(stage: CheckInput, threshold: float) -> Found:
    """Find names that differ only in case, spaces and Unicode form."""
    annotators = stage.inputs["annotations"].select(pl.col("annotator").unique().sort()).collect()
    people: dict[str, list[str]] = {}
    for name in annotators["annotator"]:
        people.setdefault(fold(name), []).append(repr(name))
    several = [" = ".join(names) for names in people.values() if len(names) > 1]
    if several and len(several) >= threshold:
        yield remark(
            "note",
            f"{count_text(len(several), 'annotator')} with several names, counted as one person",
            such_as=several,
            remedy="names of different people must differ in more than case and spaces",
            people=len(several),
        )


@check(stages=JOINING, threshold=0.1, means="proportion of the labelled candidates")
def undecided(stage: CheckInput, threshold: float) -> Found:
    """Count candidates on which annotators disagree, without a final label."""
    counted = stage.outputs["adjudicated"].select(
        open=(pl.col("label").is_null() & (pl.col("annotators") > 1)).sum(), every=pl.len()
    )
    open_, every = counted.collect().row(0)
    if every and open_ and open_ / every >= threshold:
        yield remark(
            "note",
            f"the annotators disagree on {open_:,} of {every:,} labelled candidates, which count as"
            " undecided",
            remedy='let a third person decide: add a stage agreement (use = "evaluate.agreement", '
            "annotations = those of this stage) and a sheet of agreement.disagreements",
            undecided=open_,
            labelled=every,
        )


# Judgements from tables and lists.

TABLES = ("join.table", "join.gold")


@check(stages=("join.table",), threshold=5, means="judged candidates of a category")
def positives_only(stage: CheckInput, threshold: float) -> Found:
    """Find categories without a false positive: probably a list of true positives alone."""
    judged, every = pl.col("n_judged"), pl.col("n_candidates")
    alone = judged.is_between(threshold, every, closed="left") & (pl.col("n_true") == judged)
    table = stage.outputs["coverage"].filter(alone).sort("category").collect()
    if table.is_empty():
        return
    listed = ", ".join(
        f"{name} ({count:,})" for name, count in table.select("category", "n_judged").iter_rows()
    )
    yield remark(
        "warning",
        f"all judged candidates are true positives in {listed}, so that every precision is 100 %",
        remedy="a list of true positives needs join.gold, which counts the other candidates of its"
        " words as false",
        categories=table.height,
        judged=int(table["n_judged"].sum()),
    )


_MORE_OFTEN = 5
"""How much more frequent a label must be, for a similar one to be a slip."""


@check(stages=("join.table",), threshold=0.01, means="proportion of the labels")
def odd_labels(stage: CheckInput, threshold: float) -> Found:
    """Find labels of false positives that are rare, or spelt nearly like one of true positives."""
    counted = stage.config.label_counts(stage.inputs["path"])
    positive = {name: stage.config.categories[name].labels for name in counted}
    known = {label for labels in positive.values() for label in labels}
    for category, counts in counted.items():
        true = positive[category]
        folded = {fold(label) for label in true}
        false = {label: count for label, count in counts.items() if label not in true}
        most = max(1, threshold * sum(counts.values()))
        twins, near, rare = [], [], []
        for label, count in false.items():
            often = [one for one in true if counts.get(one, 0) >= _MORE_OFTEN * count]
            if fold(label) in folded:
                twins.append(label)
            elif label not in known and any(is_near(label, one) for one in often):
                near.append(label)
            elif count <= most and len(false) > 1:
                rare.append(label)
        for odd, one, several in (
            (twins, "differs from a true-positive label only in case or spaces",
             "differ from true-positive labels only in case or spaces"),
            (near, "is spelt nearly like a true-positive label",
             "are spelt nearly like true-positive labels"),
            (rare, "is rare", "are rare"),
        ):  # fmt: skip
            if odd:
                yield remark(
                    "note" if odd is rare else "warning",
                    f"{count_text(len(odd), 'false-positive label')} in {category}"
                    f" {one if len(odd) == 1 else several}",
                    such_as=[f"{label!r} ({false[label]:,})" for label in odd],
                    remedy="correct slips, or add them to the labels of true positives",
                    labels=len(odd),
                    judged=sum(false[label] for label in odd),
                )


@check(stages=TABLES, threshold=1, means="pairs")
def spelt_otherwise(stage: CheckInput, threshold: float) -> Found:
    """Find judged pairs that differ from candidates only in case or blanks."""
    compared = _pairs_to_compare(stage)
    if compared is None:
        return
    pairs, candidates = compared
    pairs = pairs.unique([*_KEYS, "l1", "l2"])
    folded = [
        pl.col(word).cast(pl.String).str.to_lowercase().str.replace_all(r"\s+", " ")
        .str.strip_chars().alias(f"fold_{word}")
        for word in ("l1", "l2")
    ]  # fmt: skip
    strange = pairs.join(candidates, on=_KEYS, how="anti").with_columns(folded)
    there = candidates.with_columns(folded).select("fold_l1", "fold_l2", here_1="l1", here_2="l2")
    near = (
        strange.join(there, on=["fold_l1", "fold_l2"])
        .unique(["l1", "l2"], keep="any")
        .sort("l1", "l2", "here_1", "here_2")
        .collect()
    )
    if near.height < threshold or near.is_empty():
        return
    examples = near.select("l1", "l2", "here_1", "here_2").iter_rows()
    yield remark(
        "warning",
        f"{count_text(near.height, 'judged pair')} {'matches' if near.height == 1 else 'match'} no"
        " candidate, but would without a difference in case or spaces",
        such_as=[f"{a!r} {b!r} (candidate {c!r} {d!r})" for a, b, c, d in examples],
        remedy="use the same spelling in both"
        + (', or case = "lower"' if stage.use == "join.gold" else ""),
        pairs=near.height,
    )


@check(stages=TABLES, threshold=1, means="files")
def files_without_candidates(stage: CheckInput, threshold: float) -> Found:
    """Find files of judgements none of whose pairs is a candidate, or without rows."""
    if stage.inputs["path"].select("file").limit(1).collect().is_empty():
        remedy = "check the files that the option path names"
        yield remark("warning", "there are no judgements: the files have no rows", remedy=remedy)
        return
    compared = _pairs_to_compare(stage)
    if compared is None:
        return
    pairs, candidates = compared
    known = candidates.select(_KEYS).unique().with_columns(known=pl.lit(value=True))
    files = stage.inputs["path"].group_by("file").agg(rows=pl.len())
    matches = pairs.join(known, on=_KEYS, how="left").group_by("file").agg(pl.col("known").any())
    useless = (
        files.join(matches, on="file", how="left")
        .filter(~pl.col("known").fill_null(value=False))
        .sort("file")
        .collect()
    )
    if useless.height < threshold or useless.is_empty():
        return
    yield remark(
        "warning",
        f"{count_text(useless.height, 'file')} without a judgement on any candidate",
        such_as=[f"{file} ({count_text(rows, 'row')})" for file, rows in
                 useless.select("file", "rows").iter_rows()],
        remedy="check its columns, and its spelling of the words",
        files=useless.height,
    )  # fmt: skip


_KEYS = ("key_1", "key_2")


def _pairs_to_compare(stage: CheckInput) -> tuple[pl.LazyFrame, pl.LazyFrame] | None:
    """Return the judged pairs and the candidates, as spelt and as the stage compares them.

    Candidates are in both orders if the order does not count. None if they are without words, as
    those of a pool.
    """
    config, names = stage.config, ("l1", "l2")
    keys = [pl.col(word).cast(pl.String) for word in names]
    if stage.use == "join.gold":
        names = config.compare
        keys = [spelling(key, lower=config.case == "lower") for key in keys]
    if not {*names} <= {*stage.inputs["candidates"].collect_schema()}:
        return None
    pairs = config.pairs(stage.inputs["path"]).drop_nulls(["l1", "l2"])
    candidates = stage.inputs["candidates"].select(l1=names[0], l2=names[1])
    if getattr(config, "either_order", False):
        candidates = pl.concat([candidates, candidates.select(l1="l2", l2="l1")])
    keyed = dict(zip(_KEYS, keys, strict=True))
    return pairs.with_columns(**keyed), candidates.with_columns(**keyed)


# N-best lists.

EVALUATING = ("evaluate.precision", "evaluate.designed", "evaluate.choice")
ESTIMATES = ("evaluate.precision", "evaluate.designed")


@check(stages=("score.pool",), threshold=1, means="cuts")
def cuts_beyond_pool(stage: CheckInput, threshold: float) -> Found:
    """Find cuts of later stages beyond the end of a pool, before anybody judges its sample."""
    last = stage.outputs["ranks"].select(pl.col("rank").max()).collect().item() or 0
    beyond = [cut for cut in stage.later_cuts if cut > last]
    if not last or len(beyond) < threshold:
        return
    yield remark(
        "warning",
        f"{len(beyond):,} of {count_text(len(stage.later_cuts), 'list size')} of later stages"
        f" {'exceeds' if len(beyond) == 1 else 'exceed'} the {last:,} ranks of the pool: these"
        " lists will not be evaluated",
        such_as=[f"n = {cut:,}" for cut in beyond],
        remedy=f"increase the depth of the pool before people judge, or give sizes up to {last:,}",
        beyond=len(beyond),
        ranked=last,
    )


@check(stages=EVALUATING, threshold=1, means="cuts")
def cuts_beyond(stage: CheckInput, threshold: float) -> Found:
    """Find cuts beyond the end of the lists, which are skipped."""
    last = stage.inputs["ranks"].select(pl.col("rank").max()).collect().item() or 0
    beyond = [cut for cut in _cuts(stage) if cut > last]
    if not last or len(beyond) < threshold:
        return
    yield remark(
        "note",
        f"{len(beyond):,} of {len(_cuts(stage)):,} list sizes"
        f" {'exceeds' if len(beyond) == 1 else 'exceed'} the {last:,} ranked candidates and"
        f" {'is' if len(beyond) == 1 else 'are'} skipped",
        such_as=[f"n = {cut:,}" for cut in beyond],
        remedy=f"give sizes up to {last:,}",
        beyond=len(beyond),
        ranked=last,
    )


@check(stages=EVALUATING, threshold=0.1, means="proportion of the list that is drawn at random")
def ties_at_cut(stage: CheckInput, threshold: float) -> Found:
    """Find ties at a cut: candidates of equal score enter the list at random."""
    tied = [each for each in _ties(stage) if each.by_lot / each.n >= threshold]
    if not tied:
        return
    worst = max(tied, key=lambda each: each.by_lot / each.n)
    lists = [f"{measure_title(each.measure)} at n = {each.n:,}" for each in tied]
    few = len(lists) <= EXAMPLES
    names = f" ({', '.join(lists)})" if few and len(lists) > 1 else ""
    yield remark(
        "note",
        f"ties at the end of {count_text(len(tied), 'list')}{names}: of the {worst.n:,} best by"
        f" {measure_title(worst.measure)}, {worst.by_lot:,}"
        f" {'is' if worst.by_lot == 1 else 'are'} drawn at random from {worst.tied:,} of equal"
        " score",
        such_as=() if few else lists,
        remedy="check tp_min and tp_max, the extremes over all orders of ties, or cut elsewhere",
        lists=len(tied),
        by_lot=worst.by_lot,
        tied=worst.tied,
    )


@check(stages=("evaluate.precision",), threshold=0.05, means="proportion of the draws")
def unjudged(stage: CheckInput, threshold: float) -> Found:
    """Count draws without a judgement, or candidates where there is no sample."""
    rows = stage.outputs["baseline"].filter(pl.col("n_drawn") > 0).collect()
    absent = rows.filter(pl.col("n_unjudged") / pl.col("n_drawn") >= threshold)
    if absent.is_empty() or not absent["n_unjudged"].max():
        return
    worst = absent.sort("n_unjudged", "category", descending=[True, False]).row(0, named=True)
    sampled = "sample" in stage.inputs
    what = count_text(worst["n_drawn"], "draw" if sampled else "candidate")
    yield remark(
        "warning",
        f"{worst['n_unjudged']:,} of {what} {'has' if worst['n_unjudged'] == 1 else 'have'} no"
        " judgement and are excluded: if they differ from the others, the estimates are biased",
        remedy="judge them; the report gives the range of what they could change"
        if sampled
        else "judge them, or add sample: sample.judged if the judged ones were drawn at random",
        unjudged=worst["n_unjudged"],
        drawn=worst["n_drawn"],
    )


FEWEST_DRAWS = 5
"""With fewer judged draws, an estimate has a remark, and no measure is called the best."""


@check(stages=ESTIMATES, threshold=FEWEST_DRAWS, means="judged draws")
def few_judged(stage: CheckInput, threshold: float) -> Found:
    """Find estimates based on few judged draws."""
    few = (pl.col("n_sampled") < threshold) & (pl.col("n_sampled") < pl.col("n"))
    cuts = stage.outputs["cuts"].filter(few)
    estimates = cuts.sort("n_sampled", "measure", "n").collect()
    if estimates.is_empty():
        return
    yield remark(
        "warning",
        f"{estimates.height:,} of {stage.rows('cuts'):,} estimates are based on fewer than"
        f" {threshold:g} judged draws",
        such_as=[
            f"{measure_title(name)} at n = {n:,} ({count_text(judged, 'draw')})"
            for name, n, judged in estimates.select("measure", "n", "n_sampled").iter_rows()
        ],
        remedy="judge more candidates (lexassay size plans their number), or use longer lists",
        estimates=estimates.height,
        fewest=estimates["n_sampled"][0],
    )


APPROXIMATE = ("wilson", "jeffreys")
"""Intervals that reach their confidence level on average, but not for every true precision."""


@check(
    stages=("evaluate.comparison",), threshold=1_000_000,
    means="rows of `comparison` if it had all list sizes",
)  # fmt: skip
def cuts_only(stage: CheckInput, threshold: float) -> Found:
    """Find comparisons at the declared cuts only, because there are many pairs of measures."""
    if stage.config.every is not None:
        return
    compared = stage.outputs["comparison"].select("category", "measure_1", "measure_2").unique()
    last = stage.inputs["ranks"].select(pl.col("rank").max()).collect().item() or 0
    comparisons = compared.collect(engine="streaming")
    rows, pairs = comparisons.height * last, comparisons.select("measure_1", "measure_2").n_unique()
    if rows <= max(threshold, stage.rows("comparison")):
        return
    yield remark(
        "info",
        f"{count_text(pairs, 'pair')} of measures were compared at the declared cuts only, since "
        f"the tests at all n would be {rows:,} rows",
        remedy="set every = 100 for tests at every 100th n, or name the pairs that matter",
        pairs=pairs,
        rows=rows,
    )


@check(
    stages=("evaluate.precision",), threshold=5,
    means="judged true positives, and false positives, in a list",
)  # fmt: skip
def approximate_limits(stage: CheckInput, threshold: float) -> Found:
    """Find limits by Wilson or Jeffreys where nearly all draws are false, or nearly all true."""
    method = stage.config.interval
    if method not in APPROXIMATE:
        return
    fewer = pl.min_horizontal("k_sampled", pl.col("n_sampled") - pl.col("k_sampled")) < threshold
    cuts = stage.outputs["cuts"].filter(fewer, pl.col("n_sampled").is_between(1, pl.col("n") - 1))
    lists = cuts.sort("measure", "n").collect()
    if lists.is_empty():
        return
    yield remark(
        "note",
        f"the limits ({method}) of {lists.height:,} of {stage.rows('cuts'):,} lists rest on fewer"
        f" than {threshold:g} true or fewer than {threshold:g} false positives; {method} may then"
        " cover the true precision in clearly fewer samples than its confidence level says",
        such_as=[
            f"{measure_title(measure)} at n = {n:,} ({k} of {drawn} draws are true)"
            for measure, n, k, drawn in lists.select(
                "measure", "n", "k_sampled", "n_sampled"
            ).iter_rows()
        ],
        remedy='use interval = "clopper_pearson", or "hypergeometric_shortest" for draws without'
        " replacement",
        lists=lists.height,
    )


class _Tie(NamedTuple):
    measure: str
    n: int
    tied: int
    by_lot: int


def _ties(stage: CheckInput) -> Iterator[_Tie]:
    """Yield the lists that end within a tie, with the number of candidates drawn at random."""
    config, ranks = stage.config, stage.inputs["ranks"]
    selection = ranks.filter(pl.col("measure").is_in(config.measures)) if config.measures else ranks
    sizes = pl.LazyFrame({"n": sorted(set(_cuts(stage)))}, schema={"n": pl.Int64})
    ends = selection.join(sizes, left_on="rank", right_on="n").select("measure", "tie", n="rank")
    at_ends = ends.collect(engine="streaming").lazy()
    tied_there = selection.join(at_ends.select("measure", "tie").unique(), on=["measure", "tie"])
    groups = tied_there.group_by("measure", "tie").agg(last=pl.col("rank").max())
    open_ends = at_ends.join(groups, on=["measure", "tie"]).filter(pl.col("last") > pl.col("n"))
    tied = (pl.col("last") - pl.col("tie") + 1).alias("tied")
    by_lot = (pl.col("n") - pl.col("tie") + 1).alias("by_lot")
    ties = open_ends.select("measure", "n", tied, by_lot).sort("measure", "n")
    return (_Tie(*row) for row in ties.collect(engine="streaming").iter_rows())


def _cuts(stage: CheckInput) -> list[int]:
    config = stage.config
    return (
        [config.size]
        if getattr(config, "size", None)
        else list(config.sizes if stage.use == "evaluate.choice" else config.cuts)
    )


# Samples.


@check(
    stages=("sample.random", "sample.stratified", "sample.design"),
    threshold=1,
    means="missing draws",
)
def few_drawn(stage: CheckInput, threshold: float) -> Found:
    """Count requested draws that are impossible for lack of candidates."""
    request = _draws_wanted(stage)
    drawn = _count_draws(stage)
    if request - drawn < threshold:
        return
    candidates = _candidates(stage)
    if not candidates:
        return  # another check reports a stage without candidates
    reason = "there are no more"
    if "strata" in stage.outputs:
        reason = f"of {candidates:,}, some are in strata that are smaller than their samples"
    yield remark(
        "note",
        f"only {drawn:,} of the {request:,} requested candidates"
        f" {'was' if drawn == 1 else 'were'} drawn: {reason}",
        remedy="draw fewer, or extract more candidates",
        asked=request,
        drawn=drawn,
    )


@check(stages=("sample.random",), threshold=FEWEST_DRAWS, means="expected draws in a list")
def few_expected(stage: CheckInput, threshold: float) -> Found:
    """Find list sizes for which a sample has few draws, before anybody judges them."""
    candidates, draws = _candidates(stage), _count_draws(stage)
    expected = {cut: cut * draws / candidates for cut in stage.later_cuts if cut < candidates}
    few = {cut: number for cut, number in expected.items() if number < threshold}
    if not few or draws >= candidates:
        return
    first, fewest = next(iter(few.items()))
    yield remark(
        "warning",
        f"the lists of {len(few):,} of {len(stage.later_cuts):,} sizes will have fewer than"
        f" {threshold:g} draws on average: {draws:,} draws of {candidates:,} candidates",
        such_as=[f"{number:.2g} of the {cut:,} best" for cut, number in few.items()],
        remedy="draw from the n-best lists (score.pool or sample.design), draw more, or evaluate"
        " longer lists",
        size=first,
        expected=fewest,
    )


def _candidates(stage: CheckInput) -> int:
    names = ("strata", "inclusion")
    there = [stage.outputs[name] for name in names if name in stage.outputs]
    return count_rows(there[0] if there else stage.inputs["candidates"])


def _count_draws(stage: CheckInput) -> int:
    return int(stage.outputs["sample"].select(pl.col("multiplicity").sum()).collect().item())


def _draws_wanted(stage: CheckInput) -> int:
    """Return the requested number of draws; a rate is always met."""
    config = stage.config
    if stage.use == "sample.stratified":
        return sum(config.sizes)
    return int(config.size or 0) + _pilot_size(stage)


def _pilot_size(stage: CheckInput) -> int:
    """Return the number of previously judged candidates, which the sample includes."""
    if "pilot" not in stage.inputs:
        return 0
    ranked = stage.outputs["inclusion"].select("id")
    own = "pilot_sample" if "pilot_sample" in stage.inputs else "pilot"
    judged = stage.inputs[own].select(pl.col("id").unique())
    return count_rows(judged.join(ranked, on="id", how="semi"))


@check(stages=("score.pool",), threshold=0.05, means="proportion of the candidates")
def pool_omits(stage: CheckInput, threshold: float) -> Found:
    """Count candidates that a pool excludes: estimates from it are conditional on it."""
    ranked = count_rows(ranked_candidates(stage.inputs["ranks"]))
    pooled = stage.rows("candidates")
    share = (ranked - pooled) / ranked if ranked else 0.0
    if not ranked or share < threshold:
        return
    yield remark(
        "note",
        f"the pool has {pooled:,} of {ranked:,} candidates and excludes {share:.0%}: estimates"
        f" apply to the {stage.config.depth:,} best of the pooled measures; baseline and recall are"
        " within the pool, and other measures cannot be compared",
        remedy="increase the depth to exclude fewer candidates, or sample from all of them"
        " to exclude none",
        pooled=pooled,
        candidates=ranked,
    )


@check(
    stages=("sample.design",),
    threshold=1.001,
    means="expected width relative to a simple sample",
)
def does_worse(stage: CheckInput, threshold: float) -> Found:
    """Name the questions for which a designed sample is expected to be worse than a simple one."""
    questions = stage.outputs["questions"].with_columns(
        times=pl.col("half_width") / pl.col("simple_half_width")
    )
    worse = questions.filter("worse", pl.col("times") > threshold)
    table = worse.sort("times", "question", descending=[True, False]).collect()
    if table.is_empty():
        return
    text = ", ".join(
        f"{question} ({times:.2f} times as wide)"
        for question, times in table.head(3).select("question", "times").iter_rows()
    )
    yield remark(
        "note",
        f"{table.height:,} of {stage.rows('questions'):,} questions will have wider intervals than"
        f" with a simple sample of equal size: {text}",
        remedy="give them more weight, or the baseline a smaller baseline_width, if they matter",
        worse=table.height,
        questions=stage.rows("questions"),
    )


# Checks of combinations of measures: enough labels, better than a single measure, known words.


@check(stages=("score.combination",), threshold=20, means="true positives among the labels")
def few_positives(stage: CheckInput, threshold: float) -> Found:
    """Find a combination that learns from few true positives."""
    fit = stage.outputs["fit"].filter(word="", measure="").collect()
    if fit.is_empty() or fit["positives"][0] >= threshold:
        return
    positives, labels = fit["positives"][0], fit["n_judged"][0]
    yield remark(
        "warning",
        f"the combination learns from {count_text(positives, 'true positive')} among"
        f" {count_text(labels, 'label')}, fewer than {threshold:g}; in simulations with 10 to 20 it"
        " ranked better than the chosen single measure in 97 % of the samples of German PP-verb"
        " pairs, but in only 60 to 72 % of those of English bigrams",
        remedy="judge more candidates, and compare it with the single measure in the table fit",
        positives=positives,
        labels=labels,
    )


@check(
    stages=("score.combination",), threshold=1,
    means="average precision of the single measure relative to that of the combination",
)  # fmt: skip
def single_is_better(stage: CheckInput, threshold: float) -> Found:
    """Find a combination that ranks worse than the single measure chosen from the same labels."""
    fit = stage.outputs["fit"].filter(word="").drop_nulls("average_precision").collect()
    own, single = fit.filter(measure=""), fit.filter(pl.col("measure") != "")
    if own.is_empty() or single.is_empty():
        return
    ours, theirs = own["average_precision"][0], single["average_precision"][0]
    if theirs <= threshold * ours:
        return
    title = measure_title(single["measure"][0])
    yield remark(
        "note",
        f"the single measure chosen from the labels ({title} in most folds) has a higher"
        f" cross-fitted average precision than the combination, {theirs:.1%} and {ours:.1%}",
        remedy=f"use the single measure: {title}",
        combination=ours,
        single=theirs,
    )


@check(
    stages=("score.combination",), threshold=1,
    means="likelihood of a label under the models relative to that under their mean",
)  # fmt: skip
def nothing_learned(stage: CheckInput, threshold: float) -> Found:
    """Find a combination that predicts labels no better than their mean does."""
    fit = stage.outputs["fit"].filter(word="", measure="").drop_nulls("gain").collect()
    if fit.is_empty() or math.exp(fit["gain"][0]) > threshold:
        return
    gain, labels = fit["gain"][0], fit["n_judged"][0]
    yield remark(
        "warning",
        f"the combination has learned nothing from {count_text(labels, 'label')}: the models"
        f" predict labels of other folds no better than their mean ({gain:+.4f} nats per label)."
        " Its ranking is random, and tests of such rankings reject in up to 8 % of samples",
        remedy="use a single measure, or judge more candidates",
        gain=gain,
        labels=labels,
    )


@check(
    stages=("score.apply",), threshold=0.5,
    means="proportion of the candidates without a word of the model",
)  # fmt: skip
def few_known_words(stage: CheckInput, threshold: float) -> Found:
    """Count candidates of which a model knows no word, so that only their ranks count."""
    model = stage.inputs["coefficients" if "coefficients" in stage.inputs else "path"]
    if model.filter(pl.col("kind") == "word").limit(1).collect().is_empty():
        return  # a model of ranks alone
    known = pl.col("known_words") == 0
    unknown, every = stage.outputs["scores"].select(known.sum(), every=pl.len()).collect().row(0)
    if not every or unknown / every < threshold:
        return
    names = [name for name in ("l1", "l2") if name in stage.inputs["candidates"].collect_schema()]
    examples = stage.outputs["scores"].filter(known).select("id").head(3)
    such = examples.join(stage.inputs["candidates"], on="id", maintain_order="left").collect()
    yield remark(
        "note",
        f"the model knows no word of {unknown:,} of {every:,} candidates ({unknown / every:.0%}):"
        " only their ranks count",
        such_as=[" ".join(row) for row in such.select(names).cast(pl.String).iter_rows()],
        remedy="judge a sample of these candidates, and evaluate the ranking with it",
        unknown=unknown,
        candidates=every,
    )
