"""The sentences on significance tests: which test, how far it reaches, how many there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TESTS = {
    "fisher": "Fisher's exact test",
    "fisher_mid_p": "Fisher's test with mid-p values",
    "boschloo": "Boschloo's exact test",
}
"""How the text calls the tests; others go by their own names."""

SIDES = {
    "greater": "one-sided: is the first precision the higher one?",
    "less": "one-sided: is the first precision the lower one?",
}


def test_name(config: Mapping[str, Any]) -> str:
    """Return the name of the test that a stage makes.

    Examples
    --------
    >>> test_name({"test": "boschloo", "alternative": "two_sided"})
    "Boschloo's exact test"
    """
    name = str(config.get("test", "fisher"))
    return TESTS.get(name, name.replace("_", " "))


def how_tested(config: Mapping[str, Any]) -> str:
    """Say which test a stage makes, on what, and how far it reaches."""
    side = SIDES.get(str(config.get("alternative", "two_sided")))
    name = f"{test_name(config)}{f' ({side})' if side else ''}"
    said = [f"Each test is {name} on the candidates that only one of the two n-best lists holds."]
    if config.get("test", "fisher") == "fisher":
        said.append(
            "For samples drawn without replacement it is conservative: true differences are found "
            "less often than they could be."
        )
    said.append(
        "After full annotation it reads as a test about a superpopulation: would the difference "
        "hold in other data of this kind?"
    )
    return " ".join(said)


def how_many(config: Mapping[str, Any]) -> str:
    """Say what marks along every n are worth, and which p-values allow for many tests."""
    method = str(config.get("correction", "holm"))
    kind = {"holm": "Holm's method", "benjamini_hochberg": "Benjamini and Hochberg's method"}
    return (
        "Marks along every n are pointwise: two exchangeable measures, neither better than the "
        "other, get a mark somewhere in 60 % of runs. Only the p-values adjusted over the "
        f"declared cuts and pairs ({kind.get(method, method)}) allow for the number of tests."
    )


def subset_tested(config: Mapping[str, Any]) -> str:
    """Say how a set without ranks is tested against the lists of its size."""
    return (
        f"A set without ranks, such as the output of a filter, is compared with the n-best list "
        f"of its own size of each measure: {test_name(config)} on the candidates that only one "
        "of the two holds."
    )
