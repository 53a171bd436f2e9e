"""Annotation sheets: checks of the answers, assignment of items, names of annotators."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence

import polars as pl

from pipeline.errors import did_you_mean
from pipeline.kernels.sampling import candidate_id, seeded_key

# Assignment and order of items

_KEY_RANGE = 2**62


def assign(
    ids: pl.LazyFrame,
    *,
    annotators: Sequence[str],
    overlap: float,
    seed: str,
    times: int | None = None,
) -> pl.LazyFrame:
    """Assign every id to one annotator, and a share of ids to several.

    An id is assigned to the annotator with the smallest hash(seed, id, annotator), an id in the
    overlap to the `times` annotators with the smallest hashes. So assignments do not change when
    the sample grows, and a new annotator takes over ids without moving any between the others.

    Parameters
    ----------
    ids : LazyFrame
        String column ``id``; duplicates are assigned once.
    annotators : sequence of str
        Distinct names, in any order.
    overlap : float
        Share in [0, 1] of ids judged by several annotators, independently of other ids in the
        sample.
    seed : str
        Seed of the draw.
    times : int, optional
        Number of annotators of an id in the overlap (default: all).

    Returns
    -------
    LazyFrame
        id, annotator, order (Int64; random position in this annotator's list, from 1); sorted by
        annotator and order. Shares are equal in expectation.

    Raises
    ------
    ValueError
        If there is no annotator, or a duplicate, or overlap or times is out of range.

    References
    ----------
    Thaler & Ravishankar 1998, Using Name-Based Mappings to Increase Hit Rates, IEEE/ACM
    Transactions on Networking 6 (1): highest random weight.

    Examples
    --------
    >>> ids = pl.LazyFrame({"id": ["x1", "x2", "x3"]})
    >>> sheets = assign(ids, annotators=["ana", "bo"], overlap=1.0, seed="s").collect()
    >>> sheets.group_by("annotator").len().sort("annotator").rows()
    [('ana', 3), ('bo', 3)]
    """
    several = len(annotators) if times is None else times
    _check_assignment(annotators, overlap, several)
    people = pl.LazyFrame({"annotator": sorted(annotators)})
    pairs = ids.select(pl.col("id").unique()).join(people, how="cross")
    pairs = pairs.with_columns(_pair=pl.concat_str("id", "annotator", separator="\x1f"))
    keyed = pairs.with_columns(
        _weight=seeded_key("_pair", seed=seed, purpose="annotator"),
        _order=seeded_key("_pair", seed=seed, purpose="annotation order"),
        # Halved, so that an overlap of 1 (2**62 of 2**62) stays in Int64.
        _share=seeded_key("id", seed=seed, purpose="overlap") // 2,
    )
    number = pl.when(pl.col("_share") < int(overlap * _KEY_RANGE)).then(several).otherwise(1)
    selection = keyed.filter(_rank("id", by=["_weight", "annotator"]) <= number)
    assignments = selection.with_columns(order=_rank("annotator", by=["_order", "id"]))
    return assignments.select("id", "annotator", "order").sort("annotator", "order")


def _rank(group: str, *, by: list[str]) -> pl.Expr:
    return pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(group, order_by=by)


def _check_assignment(annotators: Sequence[str], overlap: float, times: int) -> None:
    if not annotators or len(set(annotators)) < len(annotators):
        raise ValueError(f"annotators must have distinct names: {', '.join(annotators)}")
    if not 0 <= overlap <= 1:
        raise ValueError(f"overlap must be a share in [0, 1], not {overlap}")
    if not 1 <= times <= len(annotators):
        raise ValueError(
            f"times must be in [1, {len(annotators)}] (the number of annotators), not {times}"
        )


# Cards that the coordinator gave to others

INSTEAD = "instead_of"
"""The column with the person who was asked before; empty in rows of answers."""


def transfers(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows of entries that say who is asked instead of whom, in order.

    Examples
    --------
    >>> rows = {"line": [1, 2], "id": ["x", "y"], "annotator": ["carla", "ana"]}
    >>> transfers(pl.LazyFrame(rows | {INSTEAD: ["ana", None]})).collect().rows()
    [('x', 'carla', 'ana')]
    >>> transfers(pl.LazyFrame(rows)).collect().rows()
    []
    """
    if INSTEAD not in entries.collect_schema():
        entries = entries.clear().with_columns(pl.lit(None, pl.String).alias(INSTEAD))
    return entries.select("id", "annotator", INSTEAD).drop_nulls()


def without_transfers(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Return the other rows: those of answers."""
    if INSTEAD not in entries.collect_schema():
        return entries
    return entries.filter(pl.col(INSTEAD).is_null()).drop(INSTEAD)


def reassign(sheet: pl.LazyFrame, moves: pl.LazyFrame) -> pl.LazyFrame:
    """Return a table of sheets with the cards that were given to others.

    A transfer has no effect where the table does not ask the one for the item, or asks the other
    for it as well. So every item keeps its number of annotators and nobody has an item twice,
    however the experiment changes later.

    Parameters
    ----------
    sheet : LazyFrame
        id, annotator and other columns.
    moves : LazyFrame
        id, annotator (who is asked) and instead_of; of several rows with the same id and
        instead_of the last counts. Names are compared as `fold` returns them.

    Returns
    -------
    LazyFrame
        The same rows in order, with other annotators.

    Examples
    --------
    >>> sheet = pl.LazyFrame({"id": ["x", "x", "y"], "annotator": ["ana", "ben", "ana"]})
    >>> moved = {"id": ["x", "y"], "annotator": ["ben", "eva"], INSTEAD: ["ana", "Ana"]}
    >>> reassign(sheet, pl.LazyFrame(moved)).collect().rows()
    [('x', 'ana'), ('x', 'ben'), ('y', 'eva')]
    """
    cards = sheet.with_columns(_who=_fold_names(_ANNOTATOR))
    moved = moves.select(
        "id", _who=_fold_names(INSTEAD), _new=_fold_names(_ANNOTATOR), _name=_ANNOTATOR
    ).unique(["id", "_who"], keep="last", maintain_order=True)
    moved = moved.join(cards, on=["id", "_who"], how="semi", maintain_order="left")
    free = moved.join(
        cards, left_on=["id", "_new"], right_on=["id", "_who"], how="anti", maintain_order="left"
    )
    one = free.unique(["id", "_new"], keep="first", maintain_order=True).drop("_new")
    joined = cards.join(one, on=["id", "_who"], how="left", maintain_order="left")
    person = pl.coalesce("_name", _ANNOTATOR).alias(_ANNOTATOR)
    return joined.with_columns(person).select(sheet.collect_schema().names())


def _fold_names(column: str) -> pl.Expr:
    return pl.col(column).map_elements(fold, return_dtype=pl.String)


# Names of annotators

_ANNOTATOR = "annotator"
_NEAREST = 3
"""Maximum number of names suggested in a message."""


def fold(name: str) -> str:
    r"""Return a name in the form for comparison: normalised, blanks collapsed, case-folded.

    Examples
    --------
    >>> fold(" Anna\u00a0 Bo "), fold("Jose\u0301") == fold("JOSÉ")
    ('anna bo', True)
    """
    # Folding may take letters apart again.
    return unicodedata.normalize("NFC", _collapse_blanks(name).casefold())


_LETTERS, _LONG = 5, 8
"""Letters from which a word may differ in one letter, and in two."""


def is_near(label: str, other: str) -> bool:
    """Return whether a label may be a misspelt other one.

    Words of at least five letters may differ in one letter, from eight letters in two, but not in
    the first: external and internal are two labels.

    Examples
    --------
    >>> is_near("colocation", "collocation"), is_near("typ A", "typ B")
    (True, False)
    """
    words, others = (re.split(r"[\W_]+", fold(each)) for each in (label, other))
    return (
        words != others
        and len(words) == len(others)
        and all(a == b or _is_slip(a, b) for a, b in zip(words, others, strict=True))
    )


def _is_slip(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    most = 0 if shorter < _LETTERS or not (word + other).isalpha() else 1 + (shorter >= _LONG)
    alike = word[:1] == other[:1] and abs(len(word) - len(other)) <= most
    return alike and _edits(word, other) <= most


def _edits(word: str, other: str) -> int:
    """Return the Levenshtein distance: the fewest letters to insert, remove or replace."""
    row: list[int] = [*range(len(other) + 1)]
    for letter in word:
        last, row = row, [row[0] + 1]
        for place, each in enumerate(other):
            row.append(min(last[place + 1] + 1, row[-1] + 1, last[place] + (letter != each)))
    return row[-1]


def unify_names(rows: pl.LazyFrame, known: Sequence[str] = ()) -> pl.LazyFrame:
    """Return the rows with unified spellings of names.

    Parameters
    ----------
    rows : LazyFrame
        With the String column ``annotator``.
    known : sequence of str
        Names of the annotators in standard spelling. Other names get their most frequent (then
        alphabetically first) spelling.

    Returns
    -------
    LazyFrame
        The same rows; blank names are null.

    Examples
    --------
    >>> rows = pl.LazyFrame({"annotator": ["A1", " a1", "B", "b ", "b", " "]})
    >>> unify_names(rows, ["a1"]).collect().to_series().to_list()
    ['a1', 'a1', 'b', 'b', 'b', None]
    """
    counted = rows.drop_nulls(_ANNOTATOR).group_by(_ANNOTATOR).len().collect()
    often = counted.with_columns(
        pl.col(_ANNOTATOR).map_elements(_collapse_blanks, return_dtype=pl.String)
    )
    often = often.group_by(_ANNOTATOR).agg(often=-pl.sum("len").cast(pl.Int64))
    spellings = by_fold([*known, *often.sort("often", _ANNOTATOR)[_ANNOTATOR]])
    spelt = {name: spellings[fold(name)] or None for name in counted[_ANNOTATOR]}
    person = pl.col(_ANNOTATOR).replace_strict(
        pl.Series(list(spelt), dtype=pl.String),
        pl.Series(list(spelt.values()), dtype=pl.String),
        default=None,
        return_dtype=pl.String,
    )
    return rows.with_columns(person)


def by_fold(names: Iterable[str]) -> dict[str, str]:
    """Return the first of equal names, by folded form.

    Examples
    --------
    >>> by_fold(["Anna", "ben", "anna "])
    {'anna': 'Anna', 'ben': 'ben'}
    """
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(fold(name), name)
    return first


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """Return the three most similar known names, nearest first.

    Examples
    --------
    >>> nearest("a2", ["ben", "a1", "A22", "carla"])
    ['A22', 'a1', 'carla']
    """
    spellings = by_fold(known)
    keys = difflib.get_close_matches(fold(name), spellings, n=_NEAREST, cutoff=0)
    return [spellings[each] for each in keys]


def unassigned_faults(rows: pl.LazyFrame, *, known: Sequence[str], answer: str) -> pl.LazyFrame:
    """Return a fault for every answer of an unknown annotator.

    Parameters
    ----------
    rows : LazyFrame
        file, line, annotator and the answer; names as `unify_names` spells them.
    known : sequence of str
        The annotators.
    answer : str
        The column of answers; rows with blank answers are ignored.

    Returns
    -------
    LazyFrame
        As `schemas.Faults`.

    Examples
    --------
    >>> row = {"file": "a.csv", "line": 2, "annotator": "amna", "label": "SVC"}
    >>> table = unassigned_faults(pl.LazyFrame([row]), known=["anna", "ben"], answer="label")
    >>> table.collect()["problem"].item()
    'is not an annotator: did you mean anna, ben? For a former annotator: former = ["amna"]'
    """
    stranger = ~pl.col(_ANNOTATOR).is_in(list(known))

    def problem(name: str) -> str:
        near = ", ".join(nearest(name, known))
        advice = f"is not an annotator: did you mean {near}?" if near else "is not an annotator."
        return f'{advice} For a former annotator: former = ["{name}"]'

    text = pl.col(_ANNOTATOR).map_elements(problem, return_dtype=pl.String)
    return _annotator_faults(rows.filter(_has_answer(answer) & stranger), text)


def unnamed_faults(rows: pl.LazyFrame, *, answer: str) -> pl.LazyFrame:
    """Return a fault for every answer without an annotator.

    Parameters
    ----------
    rows : LazyFrame
        file, line, annotator and the answer.
    answer : str
        The column of answers; rows with blank answers are ignored.

    Returns
    -------
    LazyFrame
        As `schemas.Faults`.

    Examples
    --------
    >>> row = {"file": "a.csv", "line": 2, "annotator": " ", "label": "SVC"}
    >>> unnamed_faults(pl.LazyFrame([row]), answer="label").collect()["problem"].item()
    'is empty: name the annotator of the label in this row'
    """
    nobody = (pl.col(_ANNOTATOR).str.strip_chars() == "").fill_null(value=True)
    text = pl.lit(f"is empty: name the annotator of the {answer} in this row")
    return _annotator_faults(rows.filter(_has_answer(answer) & nobody), text)


def _has_answer(answer: str) -> pl.Expr:
    return pl.col(answer).str.strip_chars() != ""


def _annotator_faults(wrong: pl.LazyFrame, problem: pl.Expr) -> pl.LazyFrame:
    name = pl.col(_ANNOTATOR)
    return wrong.select("file", "line", column=pl.lit(_ANNOTATOR), value=name, problem=problem)


def _collapse_blanks(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split())


_PAIR = ("l1", "l2")
_MOST_PLACES = 4
"""Maximum number of places listed in a message."""


def faults(
    rows: pl.LazyFrame, *, labels: Sequence[str], units: Sequence[str] = _PAIR
) -> pl.LazyFrame:
    """Return one row for every invalid cell.

    Faults are: an empty id, or an empty annotator of a label; an id that does not match the units
    of its row, after changes or partial sorting of the sheet; a label that is not among `labels`;
    conflicting labels of one annotator for an id, in one or several sheets (the first row).

    Parameters
    ----------
    rows : LazyFrame
        file, line, annotator, id, label and the units, String (line Int64); null is an empty cell,
        and an empty label is a missing judgement.
    labels : sequence of str
        The valid labels, compared without surrounding blanks and case.
    units : sequence of str
        The columns from which the id is a hash (l1 ... lk); empty if it is not a hash.

    Returns
    -------
    LazyFrame
        file, line, column, value, problem, as in `schemas.Faults`; at most one per cell.

    Raises
    ------
    ValueError
        If two labels differ only in case or blanks.

    Examples
    --------
    >>> from pipeline.kernels.sampling import candidate_id
    >>> row = {"file": "a.csv", "line": 2, "annotator": "a", "l1": "x", "l2": "y", "label": "SVG"}
    >>> sheet = pl.LazyFrame([row]).with_columns(candidate_id("l1", "l2"))
    >>> faults(sheet, labels=["SVC", "free"]).collect()["problem"].item()
    'is not a label; did you mean SVC?'
    """
    wrong = [
        _empty_ids(rows),
        _unknown_labels(rows, labels),
        unnamed_faults(rows, answer="label"),
        _contradictions(rows, labels, units),
    ]
    if units:
        wrong.append(_mismatched_ids(rows, units))
    return pl.concat(wrong)


def normalise(rows: pl.LazyFrame, *, labels: Sequence[str]) -> pl.LazyFrame:
    """Return the annotations of completed sheets, with unified spellings of labels.

    Parameters
    ----------
    rows : LazyFrame
        file, line, annotator, id, label, note.
    labels : sequence of str
        The valid labels in standard spelling.

    Returns
    -------
    LazyFrame
        file, line, id, annotator, label (null = empty or unknown), note (null = empty); one row per
        row with an id. Rows with faults are included: remove those listed by `faults` first.

    Raises
    ------
    ValueError
        If two labels differ only in case or blanks.

    Examples
    --------
    >>> row = {"file": "a.csv", "line": 2, "annotator": "a", "id": "x1", "label": "svc "}
    >>> normalise(pl.LazyFrame([row | {"note": " "}]), labels=["SVC"]).collect().rows()
    [('a.csv', 2, 'x1', 'a', 'SVC', None)]
    """
    label = canonical("label", labels=labels)
    return rows.select(
        "file", "line", _trim("id"), "annotator", label.alias("label"), _trim("note")
    ).drop_nulls("id")


def with_ids(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows with stripped ids.

    Examples
    --------
    >>> with_ids(pl.LazyFrame({"line": [2, 3], "id": [" x1", " "]})).collect().rows()
    [(2, 'x1'), (3, None)]
    """
    return rows.with_columns(_trim("id"))


def notes(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows with a note, labelled or not.

    Parameters
    ----------
    rows : LazyFrame
        With the column note.

    Examples
    --------
    >>> notes(pl.LazyFrame({"line": [2, 3, 4], "note": ["odd", " ", None]})).collect().rows()
    [(2, 'odd')]
    """
    return rows.filter(_trim("note").is_not_null())


def canonical(column: str, *, labels: Sequence[str]) -> pl.Expr:
    """Return the label of each cell: null if empty or unknown.

    Parameters
    ----------
    column : str
        String column.
    labels : sequence of str
        The valid labels.

    Raises
    ------
    ValueError
        If two labels differ only in case or blanks.

    Examples
    --------
    >>> cells = pl.DataFrame({"label": [" svc", "Free", "SVG", None]})
    >>> cells.select(canonical("label", labels=["SVC", "free"])).to_series().to_list()
    ['SVC', 'free', None, None]
    """
    spelt = pl.DataFrame({"label": list(labels)}, schema={"label": pl.String})
    folded = spelt.select(_fold_column("label")).to_series().to_list()
    if len(set(folded)) < len(folded):
        raise ValueError(f"two labels differ only in case or blanks: {', '.join(labels)}")
    return _fold_column(column).replace_strict(
        dict(zip(folded, labels, strict=True)), default=None, return_dtype=pl.String
    )


def _fold_column(column: str) -> pl.Expr:
    # NFC, since some systems save letters and accents as separate characters.
    return pl.col(column).str.normalize("NFC").str.strip_chars().str.to_lowercase()


def _trim(column: str) -> pl.Expr:
    text = pl.col(column).str.strip_chars()
    return pl.when(text != "").then(text).alias(column)


def _empty_ids(rows: pl.LazyFrame) -> pl.LazyFrame:
    problem = pl.lit("is empty; restore the id of this row from the original sheet")
    bad = rows.filter(_trim("id").is_null())
    return bad.select("file", "line", column=pl.lit("id"), value="id", problem=problem)


def _mismatched_ids(rows: pl.LazyFrame, units: Sequence[str]) -> pl.LazyFrame:
    own = _trim("id")
    # Programs save accents as separate characters, and people add blanks: the id decides.
    saved = [pl.col(unit).cast(pl.String).str.normalize("NFC").str.strip_chars() for unit in units]
    same = own.eq_missing(candidate_id(*units)) | own.eq_missing(candidate_id(*saved))
    wrong = own.is_not_null() & ~same
    what = "pair" if len(units) == len(_PAIR) else "tuple"
    counted = rows.with_columns(every=pl.len().over("file")).filter(wrong)
    several = pl.len().over("file") > 1
    problem = pl.format(
        f"id and {what} do not belong together in {{}} of {{}} rows{{}}",
        pl.len().over("file"), "every",
        pl.when(several).then(pl.lit(_SORTED)).otherwise(pl.lit(_RESTORE)),
    )  # fmt: skip
    value = pl.concat_str(own, pl.lit(": "), _words_of(units))
    return counted.select("file", "line", column=pl.lit("id"), value=value, problem=problem)


_RESTORE = "; restore the row from the original sheet"
_SORTED = (
    ", perhaps as some columns were sorted without the others; restore the rows from the original "
    "sheet"
)


def _words_of(units: Sequence[str]) -> pl.Expr:
    return pl.concat_str([pl.col(unit).fill_null("") for unit in units], separator=" ")


def _unknown_labels(rows: pl.LazyFrame, labels: Sequence[str]) -> pl.LazyFrame:
    unknown = _trim("label").is_not_null() & canonical("label", labels=labels).is_null()
    bad = rows.filter(unknown).select("file", "line", "label")

    def problem(label: str) -> str:
        return f"is not a label; {did_you_mean(label.strip(), labels)}"

    problems = bad.select(pl.col("label").unique()).with_columns(
        problem=pl.col("label").map_elements(problem, return_dtype=pl.String)
    )
    joined = bad.join(problems, on="label")
    return joined.select("file", "line", column=pl.lit("label"), value="label", problem="problem")


def _contradictions(
    rows: pl.LazyFrame, labels: Sequence[str], units: Sequence[str]
) -> pl.LazyFrame:
    """Return a fault for each id to which a person gave several labels, in its first row."""
    own, label = _trim("id"), canonical("label", labels=labels)
    words = _words_of(units) if units else own
    judged = rows.select("file", "line", "annotator", own, meant=label, words=words)
    judged = judged.drop_nulls(["id", "meant"])
    place = pl.concat_str("meant", pl.lit(" ("), "file", pl.lit(", line "), "line", pl.lit(")"))
    two = (
        judged.sort("file", "line")
        .group_by("id", "annotator", maintain_order=True)
        .agg(
            pl.col("file", "line", "words").first(),
            labels=pl.col("meant").n_unique(),
            places=place.head(_MOST_PLACES).str.join("; "),
        )
        .filter(pl.col("labels") > 1)
    )
    who = pl.col("annotator").fill_null("somebody")
    return two.select(
        "file", "line", column=pl.lit("label"),
        value=pl.concat_str("words", pl.lit(": "), "places"),
        problem=pl.format("{} gave several labels to one candidate; keep one", who),
    )  # fmt: skip
