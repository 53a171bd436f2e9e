"""Forms keyed in from a printed dictionary: reading, checks, and agreement of two people."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl

from pipeline.kernels.annotation.sheets import unnamed_faults
from pipeline.kernels.cells import ABSENT, SEPARATORS, is_error
from pipeline.kernels.lexicon.wordlists import Spelling, normalise
from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.sampling import candidate_id
from pipeline.kernels.statistics.intervals import wilson
from pipeline.kernels.survey.weighted_means import beta_limits, ratio_mean
from schemas import KeyingAgreement, KeyingsCompared

# Forms and faults of returned sheets

_LONE_CARRIAGE_RETURN = r"\r(?:[^\n]|$)"
"""A carriage return without a line feed: workbooks have the text _x000D_ so, too."""
_MOST_PLACES = 4
"""Places that a message names."""


def keyed_forms(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Return the forms of each completed row.

    Parameters
    ----------
    entries : LazyFrame
        `schemas.KeyedEntries`.

    Returns
    -------
    LazyFrame
        One row per form, with column form instead of forms; null if the dictionary lacks the lemma.
        Empty rows and rows without an id are skipped.

    Examples
    --------
    >>> rows = {"id": ["x1", "x2", "x3"], "lemma": ["ra", "dar", "xi"],
    ...         "forms": ["ra, rajt ;rat", "-", " "]}
    >>> keyed_forms(pl.LazyFrame(rows)).sort("lemma", "form").collect()["form"].to_list()
    [None, 'ra', 'rajt', 'rat']
    """
    text = pl.col("forms").str.strip_chars()
    filled = entries.with_columns(forms=text).drop_nulls(["id", "lemma", "forms"])
    rows = filled.filter(pl.col("forms") != "")
    absent = rows.filter(pl.col("forms").is_in(ABSENT))
    parts = _split_forms()
    there = rows.filter(~pl.col("forms").is_in(ABSENT)).select(pl.exclude("forms"), form=parts)
    forms = there.explode("form").with_columns(pl.col("form").str.strip_chars())
    lacking = absent.select(pl.exclude("forms"), form=pl.lit(None, pl.String))
    return pl.concat([forms.filter(pl.col("form") != ""), lacking])


def keying_faults(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row for every invalid cell.

    An id is empty, or is not that of the row's lemma; nobody is named who keyed forms in; forms
    are keyed in and a - says that the dictionary has none, in one cell or in two rows of a person;
    nothing but separators; an error of a spreadsheet; a carriage return that may have been text.

    Parameters
    ----------
    entries : LazyFrame
        `schemas.KeyedEntries`.

    Returns
    -------
    LazyFrame
        As `schemas.Faults`.

    Examples
    --------
    >>> row = {"file": "a.csv", "line": 2, "annotator": "a", "id": "x1", "lemma": "ra"}
    >>> row |= {"forms": "ra"}
    >>> keying_faults(pl.LazyFrame([row])).collect()["problem"].item()
    "is not the id of 'ra'; restore the row from the original sheet"
    """
    own = pl.col("id").str.strip_chars()
    empty = own.is_null() | (own == "")
    strange = ~empty & own.ne_missing(candidate_id("lemma"))
    not_of = pl.format(
        "is not the id of '{}'; restore the row from the original sheet",
        pl.col("lemma").fill_null(""),
    )
    parts = _split_forms().list.eval(pl.element().str.strip_chars())
    signs = parts.list.eval(pl.element().is_in(ABSENT)).list.any()
    mixed = signs & (parts.list.eval(pl.element() != "").list.sum() > 1)
    nothing = (parts.list.eval(pl.element() != "").list.sum() == 0) & (
        pl.col("forms").str.strip_chars() != ""
    )
    says_none = signs.fill_null(value=False)
    filled = pl.col("forms").is_not_null() & ~nothing.fill_null(value=False)
    person = ["id", "annotator"]  # two people may disagree
    both = (filled & ~says_none).any().over(person) & (filled & says_none).any().over(person)
    wrong = [
        unnamed_faults(entries, answer="forms"),
        _fault(entries, empty, "id", pl.lit("is empty; restore it from the original sheet")),
        _fault(entries, strange, "id", not_of),
        _fault(entries, mixed, "forms", pl.lit("contains forms and a -: keep one")),
        _fault(entries, pl.col("forms").str.contains(_LONE_CARRIAGE_RETURN), "forms", pl.lit(
            "has a carriage return, which spreadsheets make of the text _x000D_: separate forms "
            "by commas or line feeds, and write this text as \\x5Fx000D_"
        )),
        _fault(entries, is_error(pl.col("forms")), "forms", pl.lit(
            "is a spreadsheet error, caused by forms like -ness: retype them with an initial "
            "apostrophe"
        )),
        _fault(entries, nothing, "forms", pl.lit("contains no form; write - if there is none")),
        _fault(
            entries, both & filled & ~mixed, "forms",
            pl.lit("one row of this lemma has forms, another a -: keep one"),
        ),
    ]  # fmt: skip
    return pl.concat(wrong)


def contradictions(forms: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row for every cell with conflicting forms of one person for a lemma.

    Parameters
    ----------
    forms : LazyFrame
        file, line, annotator, lemma, form: what `keyed_forms` gives, in one spelling.

    Returns
    -------
    LazyFrame
        As `schemas.Faults`. Of a lemma that somebody keys in again with equal forms, in
        whatever order, there is none.

    Examples
    --------
    >>> cells = {"file": ["a", "a", "b"], "line": [2, 2, 9], "form": ["ra", "rajt", "ra"]}
    >>> rows = pl.LazyFrame(cells).with_columns(annotator=pl.lit("anna"), lemma=pl.lit("ra"))
    >>> print(contradictions(rows).collect()["problem"][0])
    anna has conflicting forms for this lemma: ra, rajt (a, line 2); ra (b, line 9); keep one
    """
    cell = ["annotator", "lemma", "file", "line"]
    cells = forms.drop_nulls("form").group_by(cell).agg(value=_join_values("form"))
    place = pl.format("{} ({}, line {})", "value", "file", "line")
    each = cells.sort(cell).group_by("annotator", "lemma", maintain_order=True)
    several = each.agg(
        keyings=pl.col("value").n_unique(), places=place.head(_MOST_PLACES).str.join("; ")
    ).filter(pl.col("keyings") > 1)
    problem = pl.format(
        "{} has conflicting forms for this lemma: {}; keep one",
        pl.col("annotator").fill_null("somebody"), "places",
    )  # fmt: skip
    bad = cells.join(several, on=["annotator", "lemma"], nulls_equal=True)
    return bad.select("file", "line", column=pl.lit("forms"), value="value", problem=problem)


def _split_forms() -> pl.Expr:
    # Polars cannot split at a pattern: every separator is replaced by the same one first.
    return pl.col("forms").str.replace_all(SEPARATORS, "\x1f").str.split("\x1f")


def _join_values(column: str) -> pl.Expr:
    return pl.col(column).unique().sort().str.join(", ")


def _fault(entries: pl.LazyFrame, wrong: pl.Expr, column: str, problem: pl.Expr) -> pl.LazyFrame:
    bad = entries.filter(wrong)
    return bad.select("file", "line", column=pl.lit(column), value=pl.col(column), problem=problem)


# Keyings: what a person keyed in for a lemma

BETWEEN = "\x1f"
"""Between the forms of a keying in one text: no form has this character."""
EVERYBODY = "*"
"""In place of names: all pairs of people together."""


def keyings(forms: pl.LazyFrame) -> pl.LazyFrame:
    r"""Return what each person keyed in for each lemma, as a text that is equal for equal forms.

    Parameters
    ----------
    forms : LazyFrame
        lemma, annotator, form: what `keyed_forms` gives, in one spelling; null if the dictionary
        lacks the lemma.

    Returns
    -------
    LazyFrame
        lemma, annotator, label: the distinct forms in alphabetical order, with `BETWEEN` between
        them, or a -.

    Examples
    --------
    >>> rows = {"lemma": ["ra"] * 2, "annotator": ["anna"] * 2, "form": ["rajt", "ra"]}
    >>> keyings(pl.LazyFrame(rows)).collect().row(0)
    ('ra', 'anna', 'ra\x1frajt')
    """
    groups = forms.drop_nulls("annotator").group_by("lemma", "annotator")
    listed = pl.col("form").drop_nulls().unique().sort()
    label = pl.when(listed.len() > 0).then(listed.str.join(BETWEEN)).otherwise(pl.lit(ABSENT[0]))
    return groups.agg(label=label)


def with_lemmas(forms: pl.LazyFrame) -> pl.LazyFrame:
    """Return forms with each lemma as one of its forms, unless the dictionary lacks it."""
    there = forms.drop_nulls("form").with_columns(form=pl.col("lemma"))
    return pl.concat([forms, there.unique()])


def spell_keyings(
    entries: pl.LazyFrame, spelling: Spelling | None = None, *, lemma_is_form: bool = False
) -> pl.LazyFrame:
    r"""Return what each person keyed in for each lemma, in one spelling.

    Parameters
    ----------
    entries : LazyFrame
        id, lemma, annotator, forms, as in `schemas.KeyedEntries`.
    spelling : Spelling, optional
        Of the forms; NFC by default.
    lemma_is_form : bool
        Count each lemma as one of its forms.

    Returns
    -------
    LazyFrame
        As `keyings`.

    Examples
    --------
    >>> row = {"id": "x1", "lemma": "ra", "annotator": "anna", "forms": "Rajt; ra,rajt"}
    >>> spell_keyings(pl.LazyFrame([row]), Spelling(case="lower")).collect()["label"].to_list()
    ['ra\x1frajt']
    """
    forms = keyed_forms(entries).collect()
    spelt = normalise(forms, spelling or Spelling(), columns=["form"])[0].lazy()
    return keyings(with_lemmas(spelt) if lemma_is_form else spelt)


def forms_of(column: str) -> pl.Expr:
    """Return the forms in labels of `keyings`: an empty list for a -."""
    absent = pl.col(column) == ABSENT[0]
    none = pl.when(absent).then(pl.lit([], pl.List(pl.String)))
    return none.otherwise(pl.col(column).str.split(BETWEEN))


def forms_text(column: str) -> pl.Expr:
    """Return the labels of `keyings` for people, with commas between forms."""
    return pl.col(column).str.replace_all(BETWEEN, ", ", literal=True)


def forms_apart(texts: pl.LazyFrame) -> dict[str, dict[str, list[str]]]:
    r"""Return, for each lemma and person, the forms that others who keyed it in do not have.

    Parameters
    ----------
    texts : LazyFrame
        lemma, annotator, label, as `keyings` returns them.

    Returns
    -------
    dict
        Lemma to annotator to forms, all in alphabetical order; a - if the dictionary lacks the
        lemma. Lemmas with equal forms, and people who have only the forms of everybody, are left
        out.

    Examples
    --------
    >>> rows = {"lemma": ["ra"] * 2, "annotator": ["anna", "ben"], "label": ["a\x1fb", "a\x1fc"]}
    >>> forms_apart(pl.LazyFrame(rows))
    {'ra': {'anna': ['b'], 'ben': ['c']}}
    """
    each: dict[str, dict[str, set[str]]] = {}
    rows = texts.select("lemma", "annotator", "label").sort("lemma", "annotator").collect()
    for lemma, who, label in rows.iter_rows():
        each.setdefault(lemma, {})[who] = set(label.split(BETWEEN))
    apart: dict[str, dict[str, list[str]]] = {}
    for lemma, people in each.items():
        common = set.intersection(*people.values())
        differ = {who: sorted(forms - common) for who, forms in people.items() if forms - common}
        if differ:
            apart[lemma] = differ
    return apart


def compare_keyings(texts: pl.LazyFrame) -> pl.DataFrame:
    r"""Compare the forms of each two people who keyed in the same lemma.

    The agreement on a lemma is Dice's coefficient, ``2 n_common / (n_1 + n_2)``: the L of the
    L-measure. It is 1 if both say that the dictionary lacks the lemma, and 0 if one does.

    Parameters
    ----------
    texts : LazyFrame
        lemma, annotator, label, as `keyings` returns them.

    Returns
    -------
    DataFrame
        As `schemas.KeyingsCompared`, sorted by lemma and names.

    Examples
    --------
    >>> rows = {"lemma": ["ra"] * 2, "annotator": ["anna", "ben"], "label": ["a\x1fb", "a\x1fc"]}
    >>> compare_keyings(pl.LazyFrame(rows)).select("agreement", "only_1", "only_2").row(0)
    (0.5, 'b', 'c')
    """
    each = texts.select("lemma", "annotator", forms=forms_of("label"))
    pairs = each.join(each, on="lemma", suffix="_2").filter(
        pl.col("annotator") < pl.col("annotator_2")
    )
    one, two = pl.col("forms"), pl.col("forms_2")
    both = pairs.select(
        "lemma",
        annotator_1="annotator",
        annotator_2="annotator_2",
        n_1=one.list.len().cast(pl.Int64),
        n_2=two.list.len().cast(pl.Int64),
        n_common=one.list.set_intersection(two).list.len().cast(pl.Int64),
        only_1=one.list.set_difference(two).list.sort().list.join(", "),
        only_2=two.list.set_difference(one).list.sort().list.join(", "),
    )
    sizes, common = pl.col("n_1") + pl.col("n_2"), 2 * pl.col("n_common")
    agreement = pl.when(sizes > 0).then(common / sizes).otherwise(1.0)
    table = both.with_columns(agreement=agreement).select(*KeyingsCompared.columns())
    return table.sort("lemma", "annotator_1", "annotator_2").collect()


def keying_agreement(compared: pl.DataFrame, *, confidence: float = 0.95) -> pl.DataFrame:
    r"""Return the agreement of each two people over all lemmas, and of all pairs of several.

    ``lemmas`` is the share of lemmas with equal forms, with Wilson's limits. ``forms`` is ``2 sum
    n_common / sum (n_1 + n_2)``: the F of one person's forms against the other's, with the limits
    of a ratio over lemmas (`pipeline.kernels.survey.weighted_means.beta_limits`).

    Parameters
    ----------
    compared : DataFrame
        As `compare_keyings` returns it.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    DataFrame
        As `schemas.KeyingAgreement`; no rows without a lemma of two people.

    References
    ----------
    Hripcsak & Rothschild, Agreement, the F-measure, and reliability in information retrieval
    (2005): F instead of kappa where the number of forms that nobody gives is not known.

    Examples
    --------
    >>> labels = {"anna": ["a\x1fb", "c"], "ben": ["a", "c"]}
    >>> rows = [(lemma, who, text) for who in labels for lemma, text in zip("xy", labels[who])]
    >>> table = pl.LazyFrame(rows, schema=["lemma", "annotator", "label"], orient="row")
    >>> keying_agreement(compare_keyings(table)).select("statistic", "estimate").rows()
    [('lemmas', 0.5), ('forms', 0.8)]
    """
    people = sorted({*compared["annotator_1"], *compared["annotator_2"]})
    pairs = itertools.combinations(people, 2)
    groups = {pair: compared.filter(annotator_1=pair[0], annotator_2=pair[1]) for pair in pairs}
    if len(people) > 2:
        groups = {(EVERYBODY, EVERYBODY): compared, **groups}
    rows = []
    for names, pair in groups.items():
        if pair.height:
            rows += [
                (*names, statistic, lemmas, *values, confidence)
                for statistic, lemmas, *values in _agreement_of(pair, confidence)
            ]
    return pl.DataFrame(rows, schema=KeyingAgreement.zero_rows().collect_schema(), orient="row")


def _agreement_of(
    compared: pl.DataFrame, confidence: float
) -> list[tuple[str, int, float | None, float | None, float | None]]:
    """Return statistic, lemmas, estimate and limits of both statistics."""
    sizes, common = (pl.col("n_1") + pl.col("n_2")).sum(), 2 * pl.col("n_common").sum()
    by_lemma = compared.group_by("lemma").agg(
        equal=(pl.col("agreement") == 1).all(), size=sizes, common=common
    ).sort("lemma")  # fmt: skip
    lemmas, equal = by_lemma.height, int(by_lemma["equal"].sum())
    lower, upper = wilson(equal, lemmas, confidence=confidence)
    some = by_lemma.filter(pl.col("size") > 0)
    forms: tuple[float | None, float | None, float | None] = (None, None, None)
    if some.height:
        size: FloatArray = some["size"].cast(pl.Float64).to_numpy()
        # The lemmas stand for infinitely many: a vanishing chance of each.
        chance = np.full(some.height, 1e-9)
        mean = ratio_mean(some["common"].to_numpy() / size, chance, size=size)
        limits = beta_limits(mean, confidence=confidence)
        forms = (float(mean.estimate), float(limits[0]), float(limits[1]))
    return [
        ("lemmas", lemmas, equal / lemmas, float(lower), float(upper)),
        ("forms", some.height, *forms),
    ]
