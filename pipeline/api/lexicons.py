"""The L-measure of a lexicon on two mappings from lemmas to their forms."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields

import polars as pl

from pipeline.errors import DataError
from pipeline.kernels.lexicon.l_measure import (
    best_match_f,
    entropy,
    f_star,
    l_star,
    lemma_scores,
    lexicon_overlaps,
    matches,
)

Forms = str | Collection[str] | None


@dataclass(frozen=True, repr=False)
class LMeasure:
    """The quality of a lexicon against the gold; None where undefined.

    Parameters
    ----------
    l_star : float or None
        L*: mean L of the best matches of the shared lemmas, weighted by their gold forms.
    f_star : float or None
        F*: the same over all gold lemmas.
    entropy : float or None
        E* of the lexicon's clusters in bits; 0 if none mixes gold lemmas.
    best_match : float or None
        F1 of the one-to-one assignment; surplus lemmas lower it.
    coverage : float or None
        Proportion of the gold lemmas that the lexicon has.
    lemmas : DataFrame
        The shared lemmas: match, n_gold, n_match, n_common, precision, recall, L, weight and
        contribution (these sum to L*).
    """

    l_star: float | None
    f_star: float | None
    entropy: float | None
    best_match: float | None
    coverage: float | None
    lemmas: pl.DataFrame = field(compare=False)

    def __repr__(self) -> str:
        values = {each.name: getattr(self, each.name) for each in fields(self)[:-1]}
        shown = [
            f"{name}={None if value is None else round(value, 4)}" for name, value in values.items()
        ]
        return f"LMeasure({', '.join(shown)}, lemmas: {self.lemmas.height:,})"


_SHOWN = (
    "lemma", "match", "n_gold", "n_match", "n_common",
    "precision", "recall", "L", "weight", "contribution",
)  # fmt: skip


def l_measure(gold: Mapping[str, Forms], lexicon: Mapping[str, Forms]) -> LMeasure:
    """Return the L-measure of a lexicon against the gold.

    The cluster of a lemma is the set of its forms. With recall r and precision p of the
    best-matching cluster, ``L_i = 2 r p / (r + p)``, and ``L* = sum_i n_i L_i / n`` over the shared
    lemmas, where n_i is the number of gold forms and n their sum.

    Parameters
    ----------
    gold, lexicon : mapping of str to collection of str
        Lemma to forms, compared exactly; None or an empty collection for a lemma without forms.

    Returns
    -------
    LMeasure
        L*, F*, E* and a table of the shared lemmas.

    Raises
    ------
    DataError
        If a lemma or form is empty or not text.

    References
    ----------
    Dalli, Adaptation of the F-measure to Cluster Based Lexicon Quality Evaluation, section 4.

    Examples
    --------
    >>> gold = {"go": ["go", "goes", "went", "gone"], "be": ["be", "is", "was"]}
    >>> lexicon = {"go": ["go", "goes", "goed"], "be": ["be", "is", "was"], "we": ["went"]}
    >>> l_measure(gold, lexicon)
    LMeasure(l_star=0.7551, f_star=0.7551, entropy=0.0, best_match=0.7143, coverage=1.0, lemmas: 2)
    """
    right, other = _wordlist(gold, "gold"), _wordlist(lexicon, "lexicon")
    overlaps = lexicon_overlaps(right, other).collect()
    every = matches(overlaps.lazy(), right, other).collect()
    both = lemma_scores(every.lazy().drop_nulls("n_same")).select(_SHOWN).collect().sort("lemma")
    forms = [each.select(pl.col("form").count()).collect().item() for each in (right, other)]
    return LMeasure(
        l_star=l_star(both["n_gold"], both["L"], float(both["n_gold"].sum())),
        f_star=f_star(every),
        entropy=entropy(overlaps, right, other).value,
        best_match=best_match_f(overlaps, gold_forms=forms[0], lexicon_forms=forms[1]),
        coverage=both.height / len(gold) if gold else None,
        lemmas=both,
    )


def _wordlist(lexicon: Mapping[str, Forms], name: str) -> pl.LazyFrame:
    """Return a row per form of a lemma; null where it has none."""
    rows = [(lemma, form) for lemma, forms in lexicon.items() for form in _forms(forms)]
    bare = [(lemma, None) for lemma, forms in lexicon.items() if not _forms(forms)]
    texts = [*rows, *((lemma, lemma) for lemma, _ in bare)]
    wrong = [row for row in texts if not all(isinstance(text, str) and text for text in row)]
    if wrong:
        some = "; ".join(f"{lemma!r}: {form!r}" for lemma, form in wrong[:3])
        what = f"{len(wrong):,} of {len(texts):,} lemmas or forms are empty or not text"
        raise DataError(f"{name}: {what}, for example {some}; map lemmas to forms as text")
    schema = {"lemma": pl.String, "form": pl.String}
    return pl.LazyFrame([*rows, *bare], schema=schema, orient="row")


def _forms(forms: Forms) -> set[str]:
    return {forms} if isinstance(forms, str) else set(forms or ())
