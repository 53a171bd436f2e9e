"""Answers that count, answers in conflict, and one label per item from several annotators."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias, get_args

import polars as pl

from pipeline.errors import did_you_mean
from pipeline.kernels.annotation.sheets import canonical, fold
from pipeline.kernels.cells import ABSENT, SEPARATORS

# Rules of an adjudication round

_PERSON = ["id", "annotator"]


def resolutions(annotations: pl.LazyFrame, decisions: pl.LazyFrame) -> pl.LazyFrame:
    """Return the ids resolved by an adjudication round, with their labels.

    An id is resolved if all adjudicators who did not annotate it agree. Without such an
    adjudicator, it is resolved if all its annotators decided and agree.

    Parameters
    ----------
    annotations : LazyFrame
        id, annotator, label: answers of the first round.
    decisions : LazyFrame
        id, annotator, label, note: decisions of people who saw the first labels.

    Returns
    -------
    LazyFrame
        As `schemas.Resolutions`: id, label, annotator (the adjudicators), note (all their notes)
        and first (labels of the first round). One row per resolved id, sorted by id.

    Notes
    -----
    Rows without id, annotator or label are ignored. Ids without annotations are not resolved, since
    there were no first labels.

    Examples
    --------
    >>> first = pl.LazyFrame({"id": ["x", "x"], "annotator": ["anna", "ben"], "label": ["s", "f"]})
    >>> decision = {"id": ["x"], "annotator": ["carla"], "label": ["f"], "note": ["free to vary"]}
    >>> resolutions(first, pl.LazyFrame(decision)).collect().rows()
    [('x', 'f', 'carla', 'free to vary', 'anna: s; ben: f')]
    >>> resolutions(first, pl.LazyFrame(decision | {"annotator": ["ben"]})).collect().rows()
    []
    """
    first = annotations.select(*_PERSON, "label").drop_nulls().unique()
    about = first.group_by("id").agg(asked=pl.col("annotator").n_unique(), first=_first_answers())
    both = first.select(*_PERSON, own=pl.lit(value=True)).unique()
    answers = decisions.drop_nulls([*_PERSON, "label"]).join(both, on=_PERSON, how="left")
    outside = pl.col("own").is_null()
    decisive = answers.filter(outside | ~outside.any().over("id"))
    decided = decisive.group_by("id").agg(
        label=pl.col("label").first(),
        labels=pl.col("label").n_unique(),
        people=pl.col("annotator").n_unique(),
        outside=outside.any(),
        annotator=_join_distinct("annotator", ", "),
        note=_join_distinct("note", "; "),
    )
    full = decided.join(about, on="id", how="inner")
    enough = pl.col("outside") | (pl.col("people") == pl.col("asked"))
    resolved = full.filter((pl.col("labels") == 1) & enough)
    return resolved.select("id", "label", "annotator", "note", "first").sort("id")


def apply_resolutions(
    adjudicated: pl.LazyFrame, resolved: pl.LazyFrame, *, column: str = "label"
) -> pl.LazyFrame:
    """Return the final value of each id, with precedence of the adjudication round.

    Parameters
    ----------
    adjudicated : LazyFrame
        id, the column and others, by a rule over the first labels only.
    resolved : LazyFrame
        id and the column, for resolved ids.
    column : str
        The column with the label, or with a value derived from it.

    Returns
    -------
    LazyFrame
        The rows of `adjudicated` in order, with the column updated.

    Examples
    --------
    >>> by_rule = pl.LazyFrame({"id": ["x", "y"], "label": [None, "s"], "agreed": [False, True]})
    >>> apply_resolutions(by_rule, pl.LazyFrame({"id": ["x"], "label": ["f"]})).collect().rows()
    [('x', 'f', False), ('y', 's', True)]
    """
    final = resolved.select("id", _final=column)
    joined = adjudicated.join(final, on="id", how="left", maintain_order="left")
    return joined.with_columns(pl.coalesce("_final", column).alias(column)).drop("_final")


def _first_answers() -> pl.Expr:
    """Return the answers of the first round with their annotators, ordered by name."""
    each = pl.format("{}: {}", "annotator", "label")
    return each.sort_by("annotator", "label").str.join("; ")


def _join_distinct(column: str, separator: str) -> pl.Expr:
    """Return the distinct texts, ordered by annotator; null if there is none."""
    texts = pl.col(column).sort_by("annotator", "label", column).drop_nulls()
    return pl.when(texts.len() > 0).then(texts.unique(maintain_order=True).str.join(separator))


# Independent and informed rounds of annotation

ROUND = "round"
"""The column with the round of a row; empty for the first round."""
Round: TypeAlias = Literal["annotation", "adjudication"]
_ROUNDS: tuple[Round, ...] = get_args(Round)


def of_round(rows: pl.LazyFrame, name: Round) -> pl.LazyFrame:
    """Return the rows of one round.

    Parameters
    ----------
    rows : LazyFrame
        Rows of sheets. Without a (non-empty) column ``round``, they belong to the first round,
        "annotation".
    name : str
        "annotation" or "adjudication".

    Examples
    --------
    >>> rows = pl.LazyFrame({"line": [2, 3, 4], "round": [None, "annotation", "adjudication"]})
    >>> of_round(rows, "annotation").collect()["line"].to_list()
    [2, 3]
    """
    return rows.filter(_is_of_round(rows, name))


def _is_of_round(rows: pl.LazyFrame, name: Round) -> pl.Expr:
    if ROUND not in rows.collect_schema():
        return pl.lit(name == _ROUNDS[0])
    return canonical(ROUND, labels=_ROUNDS).fill_null(_ROUNDS[0]) == name


def unknown_rounds(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return a fault for every row with an invalid round.

    Parameters
    ----------
    rows : LazyFrame
        file, line and optionally round.

    Returns
    -------
    LazyFrame
        As `schemas.Faults`.

    Examples
    --------
    >>> rows = pl.LazyFrame({"file": ["a"], "line": [2], "round": ["adjudicaton"]})
    >>> unknown_rounds(rows).collect()["problem"].item()
    'is not a round; did you mean adjudication?'
    """
    if ROUND not in rows.collect_schema():
        rows = rows.select("file", "line", pl.lit(None, pl.String).alias(ROUND))
    filled = pl.col(ROUND).str.strip_chars() != ""
    wrong = rows.filter(filled & canonical(ROUND, labels=_ROUNDS).is_null())
    problem = pl.col(ROUND).map_elements(
        lambda name: f"is not a round; {did_you_mean(name.strip(), _ROUNDS)}",
        return_dtype=pl.String,
    )
    return wrong.select("file", "line", column=pl.lit(ROUND), value=ROUND, problem=problem)


# Rules by which labels decide

Rule: TypeAlias = Literal["majority", "unanimous", "expert"]


def adjudicate(annotations: pl.LazyFrame, *, rule: Rule, expert: str | None = None) -> pl.LazyFrame:
    """Return the adjudicated label of each id.

    Parameters
    ----------
    annotations : LazyFrame
        id, annotator, label; null labels are missing judgements. An annotator with two different
        labels for an id has no vote on it.
    rule : str
        "majority": the label with strictly more votes than any other; "unanimous": the label of all
        annotators; "expert": the label of `expert`, or else of the majority.
    expert : str, optional
        The deciding annotator.

    Returns
    -------
    LazyFrame
        id; label (null = undecided); annotators (Int64), the number of votes; agreed (Boolean),
        true if all votes are equal, null without votes. One row per id, sorted by id.

    Raises
    ------
    ValueError
        If the rule is unknown, or "expert" without an expert.

    Examples
    --------
    >>> votes = pl.LazyFrame({"id": ["x"] * 3, "annotator": ["a", "b", "c"], "label": list("ssf")})
    >>> adjudicate(votes, rule="majority").collect().rows()
    [('x', 's', 3, False)]
    >>> adjudicate(votes, rule="expert", expert="c").collect()["label"].item()
    'f'
    """
    if rule not in get_args(Rule):
        raise ValueError(f"unknown rule {rule!r}; valid: {', '.join(get_args(Rule))}")
    if rule == "expert" and expert is None:
        raise ValueError("rule 'expert' requires the name of the expert")
    voices = votes(annotations)
    counted = voices.group_by("id").agg(
        only=pl.col("label").first(),
        annotators=pl.len().cast(pl.Int64),
        agreed=pl.col("label").n_unique() == 1,
        expert=pl.col("label").filter(pl.col("annotator") == (expert or "")).first(),
    )
    every = annotations.select("id").unique().join(counted, on="id", how="left")
    full = every.join(_majority(voices), on="id", how="left")
    label = {
        "majority": pl.col("majority"),
        "unanimous": pl.when("agreed").then("only"),
        "expert": pl.coalesce("expert", "majority"),
    }[rule]
    annotators = pl.col("annotators").fill_null(0)
    return full.select("id", label.alias("label"), annotators, "agreed").sort("id")


def intersection(annotations: pl.LazyFrame, *, positive: Collection[str]) -> pl.LazyFrame:
    """Return judgements by intersection: a true positive needs the vote of every annotator.

    Parameters
    ----------
    annotations : LazyFrame
        id, annotator, label; votes as for `adjudicate`.
    positive : collection of str
        The labels of true positives.

    Returns
    -------
    LazyFrame
        id and tp: true if all votes are labels of the category, false if any is not, null without
        votes. Sorted by id.

    References
    ----------
    Krenn, Evert & Zinsmeister, Determining intercoder agreement for a collocation
    identification task (2004), on true positives that both annotators accept.

    Examples
    --------
    >>> rows = {"id": ["x", "x", "y", "y"], "annotator": list("abab"), "label": list("sfsn")}
    >>> intersection(pl.LazyFrame(rows), positive=["s", "f"]).collect().rows()
    [('x', True), ('y', False)]
    """
    judged = votes(annotations).group_by("id").agg(tp=pl.col("label").is_in(list(positive)).all())
    every = annotations.select("id").unique()
    return every.join(judged, on="id", how="left").sort("id")


def disagreements(annotations: pl.LazyFrame) -> pl.LazyFrame:
    """Return the labels of ids on which annotators disagree.

    Parameters
    ----------
    annotations : LazyFrame
        id, annotator, label.

    Returns
    -------
    LazyFrame
        id, annotator, label of ids with two or more labels, even from one annotator; sorted and
        distinct, without null labels.

    Examples
    --------
    >>> rows = {"id": ["x", "x", "y", "y"], "annotator": list("abab"), "label": list("sfss")}
    >>> disagreements(pl.LazyFrame(rows)).collect().rows()
    [('x', 'a', 's'), ('x', 'b', 'f')]
    """
    labelled = annotations.select("id", "annotator", "label").drop_nulls("label").unique()
    several = labelled.group_by("id").agg(labels=pl.col("label").n_unique())
    two = several.filter(pl.col("labels") > 1)
    return labelled.join(two, on="id", how="semi").sort("id", "annotator", "label")


def votes(annotations: pl.LazyFrame) -> pl.LazyFrame:
    """Return the votes: at most one per annotator and id.

    Parameters
    ----------
    annotations : LazyFrame
        id, annotator, label; null labels and conflicting labels of an annotator are dropped.

    Returns
    -------
    LazyFrame
        id, annotator, label, in no particular order.

    Examples
    --------
    >>> rows = {"id": ["x", "x", "x"], "annotator": list("aab"), "label": ["s", "f", "f"]}
    >>> votes(pl.LazyFrame(rows)).collect().rows()
    [('x', 'b', 'f')]
    """
    by_annotator = annotations.drop_nulls("label").group_by("id", "annotator")
    one = by_annotator.agg(pl.col("label").first(), labels=pl.col("label").n_unique())
    return one.filter(pl.col("labels") == 1).select("id", "annotator", "label")


def _majority(votes: pl.LazyFrame) -> pl.LazyFrame:
    """Return id and the label with strictly most votes; null for ties."""
    counts = votes.group_by("id", "label").agg(votes=pl.len().cast(pl.Int64))
    most = counts.join(counts.group_by("id").agg(most=pl.col("votes").max()), on="id")
    first = most.filter(pl.col("votes") == pl.col("most")).group_by("id")
    alone = first.agg(label=pl.col("label").first(), labels=pl.len())
    return alone.select("id", majority=pl.when(pl.col("labels") == 1).then("label"))


# Which answers of sheets and of the annotation log count, and which are in conflict.


CONFLICT = "conflict"
"""Column of merged rows: whether the answer was dropped because of a conflict."""
_KEY = ["_person", "id"]
_CELL = ["file", *_KEY]


def comparable(column: str, *, answer: str) -> pl.Expr:
    """Return answers in a form that is equal for equal answers; blank is null.

    Case and blanks around a label do not matter; of forms that were keyed in, their order.

    Parameters
    ----------
    column : str
        The answers.
    answer : str
        What they are: label or forms.

    Examples
    --------
    >>> cells = pl.DataFrame({"said": [" SVC ", " "], "keyed": ["rajt; Ra", "–"]})
    >>> cells.select(comparable("said", answer="label"),
    ...     comparable("keyed", answer="forms")).rows()
    [('svc', 'Ra, rajt'), (None, '-')]
    """
    text = _trim(column).str.normalize("NFC")
    if answer == "label":
        return text.str.to_lowercase()
    parts = text.str.replace_all(SEPARATORS, "\x1f").str.split("\x1f")
    forms = parts.list.eval(pl.element().str.strip_chars()).list.unique().list.sort()
    listed = forms.list.eval(pl.element().filter(pl.element() != "")).list.join(", ")
    return (
        pl.when(listed.is_in(ABSENT)).then(pl.lit(ABSENT[0]))
        .when(listed != "").then(listed).otherwise(text)
        .alias(column)
    )  # fmt: skip


def compare_cells(
    rows: pl.LazyFrame,
    base: pl.LazyFrame,
    tasks: pl.LazyFrame,
    *,
    log: str,
    answer: str = "label",
) -> pl.LazyFrame:
    """Return what becomes of each answer in a sheet, by a three-way comparison.

    The log knows the contents of each sheet when it was read last. An answer is in conflict if
    it changed in a sheet and in the log since then, to different answers; or if it changed in two
    sheets, to different answers.

    Parameters
    ----------
    rows : LazyFrame
        file, line, annotator, id, note and the column `answer`; rows of the log are ignored.
    base : LazyFrame
        file, annotator, id, answer and note, as the log knows the sheets.
    tasks : LazyFrame
        annotator, id, answer (in the log; null: none) and settled (it cannot change any more, as
        others have seen it) of each task of the first round.
    log : str
        The value of ``file`` for rows of the log.
    answer : str
        The column of answers: label or forms.

    Returns
    -------
    LazyFrame
        A row per sheet, annotator and id of the first round: file, line, annotator (as the log
        spells the name; null: it has no such task), id, answer, note, noted (the note that the log
        knows) and outcome. ``old``: as it was, so that the log counts. ``same``: as in the log.
        ``new``: changed in the sheet only, which counts. ``conflict``. ``settled``: changed, but
        the log cannot change. ``several``: different answers in one sheet.

    Examples
    --------
    >>> rows = {"file": ["a.csv"], "line": [2], "annotator": ["Ana"], "id": ["x"],
    ...     "label": ["A"], "note": [None]}
    >>> base = {"file": ["a.csv"], "annotator": ["ana"], "id": ["x"], "answer": ["B"],
    ...     "note": [None]}
    >>> def outcome(answer):
    ...     task = {"annotator": ["ana"], "id": ["x"], "answer": [answer], "settled": [False]}
    ...     frames = (pl.LazyFrame(each) for each in (rows, base, task))
    ...     return compare_cells(*frames, log="log").collect()["outcome"].item()
    >>> outcome("B"), outcome("A"), outcome("C")
    ('new', 'same', 'conflict')
    """
    answers = of_round(rows.filter(pl.col("file") != log), "annotation")
    cells = _fold_keys(answers.drop_nulls(["annotator", "id"])).with_columns(
        _form=comparable(answer, answer=answer)
    )
    filled = pl.col("_form").is_not_null()
    one = cells.group_by(_CELL, maintain_order=True).agg(
        *(pl.col(each).sort_by(~filled, maintain_order=True).first()
          for each in ("line", answer, "note")),
        _form=pl.col("_form").drop_nulls().first(),
        _several=pl.col("_form").drop_nulls().n_unique() > 1,
    )  # fmt: skip
    base = _fold_keys(base).select(*_CELL, _held=comparable("answer", answer=answer), noted="note")
    own = _fold_keys(tasks).select(
        *_KEY, "annotator", "settled", _stands=comparable("answer", answer=answer)
    )
    full = one.join(base, on=_CELL, how="left", maintain_order="left").join(
        own, on=_KEY, how="left", maintain_order="left"
    )
    now, before, stands = (pl.col(each) for each in ("_form", "_held", "_stands"))
    changed = ~pl.col("_several") & now.ne_missing(before) & now.ne_missing(stands)
    differ = now.filter(changed).n_unique() > 1
    moved = stands.ne_missing(before).filter(changed).all()
    known = pl.col("annotator").is_not_null()
    outcome = (
        pl.when("_several").then(pl.lit("several"))
        .when(now.eq_missing(before)).then(pl.lit("old"))
        .when(~changed).then(pl.lit("same"))
        .when(known & pl.col("settled")).then(pl.lit("settled"))
        .when(known & (differ | moved).over(_KEY)).then(pl.lit("conflict"))
        .otherwise(pl.lit("new"))
    )  # fmt: skip
    return full.with_columns(outcome=outcome).select(
        *_CELL, "line", "annotator", pl.col(answer).alias("answer"), "note", "noted", "outcome"
    )


def merge_answers(
    rows: pl.LazyFrame,
    base: pl.LazyFrame,
    tasks: pl.LazyFrame,
    *,
    log: str,
    answer: str = "label",
) -> pl.LazyFrame:
    """Return the rows with valid answers only, see `compare_cells`.

    New answers of sheets replace those of the log. Answers in conflict count on neither side. A
    settled answer of the log stays. Rows of persons and ids that the log does not know are kept.
    New notes on old answers also count.

    Parameters
    ----------
    rows, seen, tasks, log, answer
        As for `compare_cells`; `rows` with those of the log.

    Returns
    -------
    LazyFrame
        The same rows, with null for answers that do not count, and for notes that the log has; and
        the Boolean column ``conflict``. Rows of the log that a sheet replaces are omitted.

    Examples
    --------
    >>> rows = pl.LazyFrame({"file": ["log", "a.csv"], "line": [1, 2], "annotator": ["ana", "Ana"],
    ...     "id": ["x", "x"], "label": ["B", "A"], "note": ["?", "!"]})
    >>> base = pl.LazyFrame({"file": ["a.csv"], "annotator": ["ana"], "id": ["x"],
    ...     "answer": ["A"], "note": ["!"]})
    >>> tasks = pl.LazyFrame({"annotator": ["ana"], "id": ["x"], "answer": ["B"],
    ...     "settled": [False]})
    >>> merge_answers(rows, base, tasks, log="log").collect().select("file", "label").rows()
    [('log', 'B'), ('a.csv', None)]
    >>> both = base.with_columns(answer=pl.lit("C"))
    >>> merge_answers(rows, both, tasks, log="log").collect()["label"].to_list()
    [None, None]
    """
    cells = compare_cells(rows, base, tasks, log=log, answer=answer)
    outcome = pl.col("outcome")
    groups = cells.group_by(_KEY).agg(
        _conflict=(outcome == "conflict").any(), _new=(outcome == "new").any()
    )
    states = cells.select(*_CELL, "outcome", "noted").join(groups, on=_KEY)
    logged = groups.with_columns(file=pl.lit(log))
    # Labels from a round of adjudication are no answers of the first round.
    numbered = rows.with_row_index("_row")
    first = of_round(numbered, "annotation").select("_row", _first=True)
    own = _fold_keys(numbered).join(first, on="_row", how="left", maintain_order="left").join(
        pl.concat([states, logged], how="diagonal"), on=_CELL, how="left", maintain_order="left"
    )  # fmt: skip
    compared = (pl.col("_first") & (outcome.is_null() | (outcome != "several"))).fill_null(
        value=False
    )
    conflict = compared & pl.col("_conflict").fill_null(value=False)
    old, replaced = compared & (outcome == "old"), compared & pl.col("_new")
    final = compared & (outcome == "settled")
    names = [name for name in rows.collect_schema().names() if name != CONFLICT]
    before = [CONFLICT] if CONFLICT in rows.collect_schema() else []  # of another log
    blank = conflict | old | final | (replaced & (outcome == "same"))
    noted = old & _trim("note").eq_missing(_trim("noted"))
    return (
        own.filter(~(replaced & (pl.col("file") == log)).fill_null(value=False))
        .with_columns(
            pl.when(blank).then(None).otherwise(pl.col(answer)).alias(answer),
            pl.when(noted).then(None).otherwise(pl.col("note")).alias("note"),
            pl.any_horizontal(conflict, *before).alias(CONFLICT),
        )
        .select(*names, CONFLICT)
    )


def _fold_keys(rows: pl.LazyFrame) -> pl.LazyFrame:
    person = pl.col("annotator").map_elements(fold, return_dtype=pl.String)
    return rows.with_columns(_person=person, id=pl.col("id").str.strip_chars())


def _trim(name: str) -> pl.Expr:
    """Return a stripped text; blank is null."""
    bare = pl.col(name).str.strip_chars()
    return pl.when(bare != "").then(bare)
