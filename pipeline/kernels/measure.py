"""Association measures: their definition, and registries that find them by name or alias."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias, TypeVar

import polars as pl

from pipeline.registry import Number, NumberRange, Registry, Template, place_of

# Names of association measures in the literature

TITLES = {
    "average_mi": "average MI", "binomial": "binomial test",
    "binomial_likelihood": "binomial likelihood", "geometric_mean": "geometric mean",
    "hypergeometric_likelihood": "hypergeometric likelihood",
    "minimum_sensitivity": "minimum sensitivity",
    "multinomial_likelihood": "multinomial likelihood", "odds_ratio": "odds ratio",
    "relative_risk": "relative risk", "conservative_log_ratio": "conservative log ratio",
    "chi_squared": "chi-squared", "delta_p_12": "ΔP (l1 given l2)",
    "delta_p_21": "ΔP (l2 given l1)", "dice": "Dice", "fisher": "Fisher's exact test",
    "frequency": "frequency", "jaccard": "Jaccard", "keyness_ll": "log-likelihood (keyness)",
    "kulczynski": "Kulczyński", "kulczynski_1": "Kulczyński 1", "liddell": "Liddell",
    "local_mi": "local MI", "log_dice": "logDice", "log_likelihood": "log-likelihood",
    "log_ratio": "log ratio", "lrc": "LRC", "mi": "MI", "mi2": "MI²", "mi3": "MI³",
    "mi_like": "MI-like", "mi_log2": "MI (log2)", "mikolov": "word2phrase score", "npmi": "NPMI",
    "odds_ratio_disc": "odds ratio (discounted)", "percent_diff": "%DIFF", "phi": "phi",
    "poisson": "Poisson", "poisson_likelihood": "Poisson likelihood",
    "poisson_stirling": "Poisson–Stirling", "positive_lrc": "positive LRC", "ppmi": "PPMI",
    "random": "random order", "simple_ll": "simple-LL", "simpson": "Simpson",
    "t_score": "t-score", "yule_q": "Yule's Q", "yule_y": "Yule's Y", "z_score": "z-score",
}  # fmt: skip
"""Titles, without the qualifiers of `_ENDINGS`."""
_ENDINGS = (
    ("_pv", "p-value"),
    ("_left", "left-sided"),
    ("_tt", "two-sided"),
    ("_two_sided", "two-sided"),
    ("_corr", "corrected"),
    ("_clipped", "clipped"),
)
_OF_TUPLES = "tuple_"
_LEVEL = re.compile(r"mi_conf_(\w+)|poisson_mu_(\w+)")


def measure_title(name: str) -> str:
    """Return the title of a measure; other names are returned unchanged.

    Parameters
    ----------
    name : str
        A measure's name in snake case, or whatever else ranks candidates.

    Examples
    --------
    >>> [measure_title(name) for name in ("t_score", "mi", "geometric_mean", "chi_squared_corr_pv")]
    ['t-score', 'MI', 'geometric mean', 'chi-squared (corrected, p-value)']
    >>> [measure_title(name) for name in ("mi_conf_10", "tuple_mi", "my_score")]
    ['MI lower limit (α = 10^−10)', 'MI (tuples)', 'my_score']
    """
    if (
        name.startswith(_OF_TUPLES)
        and (own := measure_title(name.removeprefix(_OF_TUPLES))) != name
    ):
        return f"{own} (tuples)"
    match = _LEVEL.fullmatch(name)
    if match:
        number = (match[1] or match[2]).replace("_", ".")
        return f"MI lower limit (α = 10^−{number})" if match[1] else f"Poisson, μ = {number} E"
    qualifiers: list[str] = []
    base = name
    while base not in TITLES and (ending := _find_ending(base)):
        base = base.removesuffix(ending[0])
        qualifiers.insert(0, ending[1])
    if base not in TITLES:
        return name
    return f"{TITLES[base]} ({', '.join(qualifiers)})" if qualifiers else TITLES[base]


def _find_ending(name: str) -> tuple[str, str] | None:
    return next((each for each in _ENDINGS if name.endswith(each[0]) and name != each[0]), None)


Family: TypeAlias = Literal[
    "likelihood", "exact test", "asymptotic test", "point estimate",
    "conservative estimate", "information theory", "heuristic",
]  # fmt: skip
Sidedness: TypeAlias = Literal["one-sided", "two-sided", "signed", "none"]
OfNumber = TypeVar("OfNumber", bound=Callable[[Any], pl.Expr])


@dataclass(frozen=True)
class Measure:
    """A registered association measure.

    Parameters
    ----------
    name : str
        The field's standard name in snake case.
    score : callable
        () -> expression over `pipeline.kernels.association.contingency.COLUMNS`; of a measure of
        tuples, number of units -> expression over `contingency.columns(units)`.
    family, formula, range, reference, sided
        Texts for ``lexassay measures``; `range` in interval notation.
    ucs : str
        Name in the UCS toolkit, empty if it has none.
    aliases : sequence of str
        Other accepted names.
    symmetric : bool
        True if swapping l1 and l2 does not change the score.
    note : str
        Conventions for special cases: empty margins, O11 = 0, O11 = E11.
    is_in_all : bool
        Whether ``all`` includes it; false for what does not rank by attraction.

    Examples
    --------
    >>> MEASURES.get("t_score").formula, TUPLE_MEASURES.get("t_score").formula
    ('(O11 - E11) / sqrt(O11)', '(O - E) / sqrt(O)')
    """

    name: str
    score: Callable[..., pl.Expr]
    _: KW_ONLY
    family: Family
    formula: str
    range: str
    reference: str
    sided: Sidedness = "none"
    ucs: str = ""
    aliases: Sequence[str] = ()
    symmetric: bool = True
    note: str = ""
    is_in_all: bool = True

    @cached_property
    def expression(self) -> pl.Expr:
        """The result of `score` for pairs, always the same object.

        Polars cannot tell that two expressions with a Python function in them are equal.
        """
        return self.score()

    @property
    def spellings(self) -> tuple[str, ...]:
        """All accepted names, its own first."""
        others = (self.ucs, *self.aliases)
        return tuple(dict.fromkeys(name for name in (self.name, *others) if name))


MEASURES: Registry[Measure] = Registry(
    "measure", "pipeline.kernels.association.measures", spellings=lambda each: each.spellings
)
TUPLE_MEASURES: Registry[Measure] = Registry(
    "tuple measure",
    "pipeline.kernels.association.tuple_measures",
    spellings=lambda each: each.spellings,
)

measure = MEASURES.decorator(Measure)
"""Register a function () -> expression as an association measure of its name."""


def measure_family(
    *,
    numbers: NumberRange,
    standard: Collection[Number] = (),
    family: Family,
    formula: str,
    range: str,  # noqa: A002  the word of `Measure`
    reference: str,
    sided: Sidedness = "none",
    ucs: str = "",
    ucs_numbers: Sequence[Number] = (),
    aliases: Sequence[str] = (),
    symmetric: bool = True,
    note: str = "",
) -> Callable[[OfNumber], OfNumber]:
    """Register a function of a number as a family of association measures.

    They are named name_5, and also found as ``name(5)`` and by `ucs` and `aliases`.

    Parameters
    ----------
    numbers : NumberRange
        The allowed numbers.
    standard : collection of numbers
        Numbers included in ``all`` and in lists.
    family, range, reference, sided, symmetric, note
        As of a `Measure`.
    formula, ucs, aliases : str
        As of a `Measure`, with ``{n}`` in the place of the number.
    ucs_numbers : sequence of numbers
        Numbers in the UCS toolkit; for others, its spelling is an alias.

    Examples
    --------
    >>> MEASURES.get("mi_conf_50").formula, MEASURES.resolve(["MI.conf.50", "poisson_mu(1.5)"])
    ('log10(gammaincinv(O11, alpha/2) / E11), alpha = 10^-50', ['mi_conf_50', 'poisson_mu_1_5'])
    """

    def register(function: OfNumber) -> OfNumber:
        pattern = Measure(
            f"{function.__name__}(n)", function, family=family, formula=formula, range=range,
            reference=reference, sided=sided, ucs=ucs, aliases=aliases, symmetric=symmetric,
            note=note,
        )  # fmt: skip
        make = partial(_make_member, pattern, numbers=numbers, ucs_numbers=ucs_numbers)
        listed = _list_entry(pattern, numbers, ucs_numbers)
        spellings = pattern.spellings[1:]
        template = Template(function.__name__, numbers, make, listed, spellings)
        MEASURES.add_template(template, place_of(function))
        for name, number in ((template.name_of(number), number) for number in standard):
            MEASURES.add(name, make(name, number), place_of(function))
        return function

    return register


def _make_member(
    pattern: Measure,
    name: str,
    number: Number,
    *,
    numbers: NumberRange,
    ucs_numbers: Sequence[Number],
) -> Measure:
    """Return the measure of a family that has this number; UCS's name is its own, or an alias."""
    one = replace(
        _insert_number(pattern, numbers.write(number)),
        name=name,
        score=partial(pattern.score, number),
    )
    known = number in ucs_numbers
    return one if known else replace(one, ucs="", aliases=one.spellings[1:])


def _list_entry(pattern: Measure, numbers: NumberRange, ucs_numbers: Sequence[Number]) -> Measure:
    """Return the entry of a family in a list."""
    of_ucs = ",".join(map(numbers.write, ucs_numbers))
    note = "; ".join(filter(None, [f"n is {numbers}", pattern.note]))
    ucs = pattern.ucs.replace("{n}", f"{{{of_ucs}}}")
    return replace(_insert_number(pattern, "n"), ucs=ucs, note=note)


def _insert_number(pattern: Measure, n: str) -> Measure:
    formula, ucs, *aliases = (
        each.replace("{n}", n) for each in (pattern.formula, pattern.ucs, *pattern.aliases)
    )
    return replace(pattern, formula=formula, ucs=ucs, aliases=aliases)


tuple_measure = TUPLE_MEASURES.decorator(Measure)
"""Register a function of the number of units as a tuple measure of its name.

It has the name of the pair measure that it equals for two units. In the formula O and E are those
of the whole tuple, E = N (f1/N) (f2/N) ... (fk/N).
"""
