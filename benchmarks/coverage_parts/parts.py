"""The parts by name, and what each of their methods promises."""

from __future__ import annotations

from types import ModuleType

from coverage_parts import (
    bands,
    inferred,
    labels_needed,
    lexicons,
    lists_of_designs,
    looks,
    phased_samples,
    simple_samples,
    stratified_samples,
    tests_of_designs,
    tests_of_differences,
)

PARTS: dict[str, ModuleType] = {
    "simple": simple_samples,
    "strata": stratified_samples,
    "designs": lists_of_designs,
    "phases": phased_samples,
    "tests": tests_of_differences,
    "design_tests": tests_of_designs,
    "bands": bands,
    "looks": looks,
    "average": inferred,
    "lexicons": lexicons,
    "labels": labels_needed,
}
LABELS = "labels"
"""The part whose cells are no coverages."""
TITLES = {
    "simple": "Simple samples",
    "strata": "Stratified samples",
    "designs": "Designed samples, with and without predictions",
    "phases": "Samples in two phases",
    "tests": "Tests of a difference, simple samples",
    "design_tests": "Tests of a difference, designed samples",
    "bands": "Bands over list sizes",
    "looks": "Samples that are looked at more than once",
    "average": "Average precision",
    "lexicons": "L* of lexicons",
    "labels": "Labels that are needed",
}
NOT_EXACT = ("wilson", "jeffreys")
"""Methods with these words promise nothing with fewer than ten draws in a set."""


def few(method: str) -> bool:
    """Tell whether a method is of Clopper and Pearson's kind, for few draws too."""
    return not any(word in method for word in NOT_EXACT) or "wilson_corrected" in method


DEFAULTS = frozenset({
    ("simple", "clopper_pearson"),
    ("strata", "top 2 strata"), ("strata", "even 2 strata"), ("strata", "even 5 strata"),
    ("strata", "even 10 strata"), ("strata", "even 20 strata"),
    ("strata", "proportional 10 strata"), ("strata", "proportional 20 strata"),
    *(("designs", method) for method in lists_of_designs.METHODS),
    *(("lexicons", method) for method in lexicons.METHODS),
    *(("phases", method) for method in phased_samples.METHODS),
    ("tests", "fisher, candidates to come"),
    ("tests", "finite_population_test, these candidates"),
    *(("design_tests", method) for method in tests_of_designs.METHODS),
    ("bands", "range, clopper_pearson"), ("bands", "range, korn_graubard, designed"),
    ("looks", "obrien_fleming, clopper_pearson"),
    ("looks", "obrien_fleming, korn_graubard, designed"),
    *(("average", f"infAP, {design}") for design in ("simple", "designed")),
})  # fmt: skip
"""Methods used by default: a run fails if one of them fails."""
