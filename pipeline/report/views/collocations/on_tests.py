"""The sentences on significance tests: which test, how far it reaches, how many there are."""

from __future__ import annotations

import polars as pl

from pipeline.findings.stage import StageOptions
from pipeline.kernels.statistics.exact_tests import TESTS
from pipeline.kernels.statistics.multiplicity import CORRECTIONS

SIDES = {
    "greater": "one-sided: is the first precision the higher one?",
    "less": "one-sided: is the first precision the lower one?",
}


class Mark(StageOptions):
    """When a stage marks a difference."""

    alpha: float
    """Significance level."""
    margin: float
    """Smaller differences are not marked."""

    @property
    def said(self) -> str:
        """The same in words."""
        least = f" and at least {100 * self.margin:g} points" if self.margin else ""
        return f"adjusted p < {self.alpha:g}{least}"


class HowTested(Mark):
    """How a stage tests differences."""

    test: str
    """Name of the test."""
    alternative: str
    """What is tested for."""
    correction: str
    """How p-values are adjusted."""

    @property
    def test_name(self) -> str:
        """What the text calls the test.

        Examples
        --------
        >>> how = {"test": "boschloo", "alternative": "two_sided", "correction": "holm"}
        >>> HowTested(alpha=0.05, margin=0, **how).test_name
        "Boschloo's exact test"
        """
        return TESTS.title(self.test)


class HowCompared(HowTested):
    """How a stage compares measures."""

    confidence: float
    """Level of the limits of differences."""
    equivalence: float | None
    """The smallest difference that would matter, if it is tested for."""
    best: str
    """How the tests of the best measure are adjusted."""


def how_tested(tested: HowTested) -> str:
    """Say which test a stage makes, on what, and how far it reaches."""
    side = SIDES.get(tested.alternative)
    name = f"{tested.test_name}{f' ({side})' if side else ''}"
    said = [f"Each test is {name} on the candidates that only one of the two n-best lists holds."]
    if tested.test == "fisher":
        said.append(
            "For samples drawn without replacement it is conservative: true differences are found "
            "less often than they could be."
        )
    said.append(
        "After full annotation it reads as a test about a superpopulation: would the difference "
        "hold in other data of this kind?"
    )
    return " ".join(said)


def at_any_time() -> str:
    """Say what a test is that holds at every size of the sample."""
    return (
        "Each test asks whether the candidates that only one of the two n-best lists holds have as "
        "many true positives as those that only the other holds, at whatever size of the sample "
        "one looks. After full annotation any difference is certain."
    )


def how_many(tested: HowTested) -> str:
    """Say what marks along every n are worth, and which p-values allow for many tests."""
    method = CORRECTIONS.title(tested.correction)
    return (
        "Marks along every n are pointwise: where neither of two measures is better, there was a "
        "mark somewhere in 41 to 58 % of simulated samples of 10 %, and in 78 to 92 % once all was "
        "judged. Only the p-values adjusted over the "
        f"declared cuts and pairs ({method}) allow for the number of tests."
    )


def subset_tested(tested: HowTested) -> str:
    """Say how a set without ranks is tested against the lists of its size."""
    return (
        f"A set without ranks, such as the output of a filter, is compared with the n-best list "
        f"of its own size of each measure: {tested.test_name} on the candidates that only one "
        "of the two holds."
    )


def correction_of(corrections: pl.Series) -> str:
    """Return how a table's p-values are adjusted, in a word.

    Examples
    --------
    >>> correction_of(pl.Series(["benjamini_hochberg", "benjamini_hochberg"]))
    'benjamini-hochberg'
    """
    return ", ".join(sorted(set(corrections))).replace("_", "-")
