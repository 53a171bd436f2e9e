"""Which answers of sheets and of the annotation log count, and which are in conflict."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.annotation.adjudication import of_round
from pipeline.kernels.annotation.sheets import fold
from pipeline.kernels.cells import ABSENT, SEPARATORS

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
    seen: pl.LazyFrame,
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
    seen : LazyFrame
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
    >>> seen = {"file": ["a.csv"], "annotator": ["ana"], "id": ["x"], "answer": ["B"],
    ...     "note": [None]}
    >>> def outcome(answer):
    ...     task = {"annotator": ["ana"], "id": ["x"], "answer": [answer], "settled": [False]}
    ...     frames = (pl.LazyFrame(each) for each in (rows, seen, task))
    ...     return compare_cells(*frames, log="log").collect()["outcome"].item()
    >>> outcome("B"), outcome("A"), outcome("C")
    ('new', 'same', 'conflict')
    """
    typed = of_round(rows.filter(pl.col("file") != log), "annotation")
    cells = _fold_keys(typed.drop_nulls(["annotator", "id"])).with_columns(
        _form=comparable(answer, answer=answer)
    )
    filled = pl.col("_form").is_not_null()
    one = cells.group_by(_CELL, maintain_order=True).agg(
        *(pl.col(each).sort_by(~filled, maintain_order=True).first()
          for each in ("line", answer, "note")),
        _form=pl.col("_form").drop_nulls().first(),
        _several=pl.col("_form").drop_nulls().n_unique() > 1,
    )  # fmt: skip
    base = _fold_keys(seen).select(*_CELL, _held=comparable("answer", answer=answer), noted="note")
    own = _fold_keys(tasks).select(
        *_KEY, "annotator", "settled", _stands=comparable("answer", answer=answer)
    )
    full = one.join(base, on=_CELL, how="left", maintain_order="left").join(
        own, on=_KEY, how="left", maintain_order="left"
    )
    now, held, stands = (pl.col(each) for each in ("_form", "_held", "_stands"))
    changed = ~pl.col("_several") & now.ne_missing(held) & now.ne_missing(stands)
    differ = now.filter(changed).n_unique() > 1
    moved = stands.ne_missing(held).filter(changed).all()
    known = pl.col("annotator").is_not_null()
    outcome = (
        pl.when("_several").then(pl.lit("several"))
        .when(now.eq_missing(held)).then(pl.lit("old"))
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
    seen: pl.LazyFrame,
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
        the Boolean column ``conflict``. Rows of the log that a sheet replaces are left out.

    Examples
    --------
    >>> rows = pl.LazyFrame({"file": ["log", "a.csv"], "line": [1, 2], "annotator": ["ana", "Ana"],
    ...     "id": ["x", "x"], "label": ["B", "A"], "note": ["?", "!"]})
    >>> seen = pl.LazyFrame({"file": ["a.csv"], "annotator": ["ana"], "id": ["x"],
    ...     "answer": ["A"], "note": ["!"]})
    >>> tasks = pl.LazyFrame({"annotator": ["ana"], "id": ["x"], "answer": ["B"],
    ...     "settled": [False]})
    >>> merge_answers(rows, seen, tasks, log="log").collect().select("file", "label").rows()
    [('log', 'B'), ('a.csv', None)]
    >>> both = seen.with_columns(answer=pl.lit("C"))
    >>> merge_answers(rows, both, tasks, log="log").collect()["label"].to_list()
    [None, None]
    """
    cells = compare_cells(rows, seen, tasks, log=log, answer=answer)
    outcome = pl.col("outcome")
    groups = cells.group_by(_KEY).agg(
        _conflict=(outcome == "conflict").any(), _new=(outcome == "new").any()
    )
    states = cells.select(*_CELL, "outcome", "noted").join(groups, on=_KEY)
    logged = groups.with_columns(file=pl.lit(log))
    # What is said in a round of adjudication is no answer of the first round.
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
    kept = compared & (outcome == "settled")
    names = [name for name in rows.collect_schema().names() if name != CONFLICT]
    before = [CONFLICT] if CONFLICT in rows.collect_schema() else []  # of another log
    gone = conflict | old | kept | (replaced & (outcome == "same"))
    noted = old & _trim("note").eq_missing(_trim("noted"))
    return (
        own.filter(~(replaced & (pl.col("file") == log)).fill_null(value=False))
        .with_columns(
            pl.when(gone).then(None).otherwise(pl.col(answer)).alias(answer),
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
