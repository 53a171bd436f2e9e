"""The L-measure of a lexicon, from lemmas and their forms."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn, TypeAlias

import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.kernels.lexicon.l_measure import (
    best_match_f,
    entropy,
    f_star,
    l_star,
    lemma_scores,
    lexicon_overlaps,
    matches,
)

Forms: TypeAlias = str | Collection[str] | None
Lexicon: TypeAlias = Mapping[str, Forms] | Iterable[tuple[str, Forms]]


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


def l_measure(gold: Lexicon, lexicon: Lexicon) -> LMeasure:
    """Return the L-measure of a lexicon against the gold.

    The cluster of a lemma is the set of its forms. With recall r and precision p of the
    best-matching cluster, ``L_i = 2 r p / (r + p)``, and ``L* = sum_i n_i L_i / n`` over the shared
    lemmas, where n_i is the number of gold forms and n their sum.

    Parameters
    ----------
    gold, lexicon : mapping of str to collection of str, or sequence of pairs
        Lemma to forms, compared exactly; None or an empty collection for a lemma without forms. Of
        pairs, a lemma has the forms of all: ``[("go", "goes"), ("go", "went")]``.

    Returns
    -------
    LMeasure
        L*, F*, E* and a table of the shared lemmas.

    Raises
    ------
    ConfigError
        If an argument is neither a mapping nor pairs, or a lemma or form is empty or not text.

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
    lemmas = right.select(pl.col("lemma").n_unique()).collect().item()
    overlaps = lexicon_overlaps(right, other).collect()
    every = matches(overlaps.lazy(), right, other).collect()
    both = lemma_scores(every.lazy().drop_nulls("n_same")).select(_SHOWN).collect().sort("lemma")
    forms = [each.select(pl.col("form").count()).collect().item() for each in (right, other)]
    return LMeasure(
        l_star=l_star(both["n_gold"], both["L"], float(both["n_gold"].sum())),
        f_star=f_star(every),
        entropy=entropy(overlaps, right, other).value,
        best_match=best_match_f(overlaps, gold_forms=forms[0], lexicon_forms=forms[1]),
        coverage=both.height / lemmas if lemmas else None,
        lemmas=both,
    )


def _wordlist(lexicon: Lexicon, name: str) -> pl.LazyFrame:
    """Return a row per form of a lemma; null where it has none."""
    held = dict[Any, set[Any]]()
    for lemma, forms in _pairs(lexicon, name):
        held.setdefault(lemma, set()).update({forms} if isinstance(forms, str) else forms or ())
    rows = [(lemma, form) for lemma, forms in held.items() for form in forms]
    bare = [(lemma, None) for lemma, forms in held.items() if not forms]
    texts = [*rows, *((lemma, lemma) for lemma, _ in bare)]
    wrong = [row for row in texts if not all(isinstance(text, str) and text for text in row)]
    if wrong:
        some = "; ".join(f"{lemma!r}: {form!r}" for lemma, form in wrong[:3])
        what = f"{len(wrong):,} of {len(texts):,} lemmas or forms are empty or not text"
        _refuse(name, f"{what}, for example {some}", "map lemmas to forms as text")
    schema = {"lemma": pl.String, "form": pl.String}
    return pl.LazyFrame([*rows, *bare], schema=schema, orient="row")


def _pairs(lexicon: Any, name: str) -> Sequence[tuple[Any, Any]]:
    """Return lemmas with forms, one or several."""
    remedy = "give a mapping of lemmas to forms, or pairs of a lemma and a form"
    if not isinstance(lexicon, Mapping | Iterable) or isinstance(lexicon, str | pl.DataFrame):
        _refuse(name, f"is of type {type(lexicon).__name__}", remedy)
    pairs = list(lexicon.items() if isinstance(lexicon, Mapping) else lexicon)
    wrong = [place for place, each in enumerate(pairs) if not _is_pair(each)]
    if wrong:
        some = ", ".join(f"{pairs[place]!r} at position {place}" for place in wrong[:3])
        what = f"{len(wrong):,} of {len(pairs):,} are not a lemma with its form or forms"
        _refuse(name, f"{what}, for example {some}", remedy)
    return pairs


def _is_pair(each: Any) -> bool:
    if not isinstance(each, tuple | list) or len(each) != 2:
        return False
    lemma, forms = each
    several = isinstance(forms, Collection) and all(isinstance(form, Hashable) for form in forms)
    return isinstance(lemma, Hashable) and (forms is None or several)


def _refuse(name: str, what: str, remedy: str) -> NoReturn:
    raise ConfigError("l_measure", [Problem(name, what, remedy)])
