"""Questions of sample size as they are typed: lists of numbers, and which options go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.errors import ConfigError, Problem

_TEST = ("power", "alpha", "margin", "test", "alternative", "replicates", "seed")
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "precision": (
        *("n", "rate", "candidates", "precision", "width", "interval", "confidence"),
        "replacement",
    ),
    "compare": ("n", "rate", "candidates", "compare", "overlap", "shared", *_TEST),
    "pilot": ("n", "rate", "config", "pilot", "measures", "category", "set", *_TEST),
    "half_width": (
        *("n", "config", "design", "measures", "pairs", "questions", "pilot", "category", "set"),
        *("half_width", "power", "difference", "precision", "rho2", "looks", "spending"),
        *("confidence", "alpha"),
    ),
}
"""The option that asks each question, and those that go with it."""
_DESIGN = ("half_width", "difference", "design")
"""The options that ask for the labels of declared questions; the others go with them."""
_NEEDED = {
    "precision": {"candidates": "e.g. --candidates 5102"},
    "compare": {"candidates": "e.g. --candidates 5102", "overlap": "e.g. --overlap 0.7"},
    "pilot": {
        "config": "name the experiment first",
        "measures": "e.g. --measures t_score,mi",
        "n": "e.g. --n 500",
    },
    "half_width": {"config": "name the experiment first"},
}


def question(given: Mapping[str, Any]) -> str:
    """Return which question is asked, if all that was given goes with it.

    Parameters
    ----------
    given : mapping of str to value
        All options but those that every question takes; None is not given.

    Raises
    ------
    ConfigError
        If no question is asked or several are, and for each option that does not go with it or
        is missing.

    Examples
    --------
    >>> question({"candidates": 5102, "precision": "0.3", "pilot": None})
    'precision'
    """
    named = {name for name, value in given.items() if value is not None}
    asked = [name for name in QUESTIONS if name in named]
    if named & set(_DESIGN):
        asked = ["half_width"]
    if len(asked) != 1:
        options = [_shown(name) for name in asked or QUESTIONS]
        what = f"give one of {', '.join(options)}"
        says = (
            "--precision asks for widths, --compare and --pilot for the power of a comparison,"
            " --half-width and --difference for the labels of declared questions"
        )
        raise ConfigError("size", [Problem("question", what, says)])
    kind = asked[0]
    stray = sorted(named - set(QUESTIONS[kind]))
    problems = [
        Problem(_shown(name), f"does not go with {_asking(kind, named)}", "leave it out")
        for name in stray
    ]
    problems += [
        Problem(_shown(name), f"is needed with {_asking(kind, named)}", remedy)
        for name, remedy in _NEEDED[kind].items()
        if name not in named
    ]
    if problems:
        raise ConfigError("size", problems)
    return kind


def _asking(kind: str, named: set[str]) -> str:
    """Return the option that asked the question."""
    first = next((name for name in _DESIGN if name in named), kind)
    return _shown(first if kind == "half_width" else kind)


def _shown(name: str) -> str:
    return "CONFIG" if name == "config" else f"--{name.replace('_', '-')}"


def numbers(option: str, text: str) -> list[float]:
    """Return the numbers in a text with commas; a per cent sign divides by 100.

    Raises
    ------
    ConfigError
        With each that is no number.

    Examples
    --------
    >>> numbers("--rate", "0.05, 10%")
    [0.05, 0.1]
    """
    values, problems = [], []
    for word in _words(text):
        try:
            values.append(float(word.removesuffix("%")) / (100 if word.endswith("%") else 1))
        except ValueError:
            problems.append(Problem(option, f"{word!r} is no number", "e.g. 0.1 or 10%"))
    if problems:
        raise ConfigError("size", problems)
    return values


def whole_numbers(option: str, text: str) -> list[int]:
    """Return the whole numbers in a text with commas.

    Raises
    ------
    ConfigError
        With each that is no whole number.

    Examples
    --------
    >>> whole_numbers("--n", "100,500")
    [100, 500]
    """
    words = _words(text)
    wrong = [word for word in words if not word.isdecimal()]
    if wrong:
        problems = [Problem(option, f"{word!r} is no whole number", "e.g. 500") for word in wrong]
        raise ConfigError("size", problems)
    return [int(word) for word in words]


def two(option: str, values: list[Any]) -> tuple[Any, Any]:
    """Return two values.

    Raises
    ------
    ConfigError
        If there are more or fewer.

    Examples
    --------
    >>> two("--compare", [0.3, 0.2])
    (0.3, 0.2)
    """
    if len(values) != 2:
        what = f"{len(values)} values"
        raise ConfigError("size", [Problem(option, what, "give two, with a comma between them")])
    return values[0], values[1]


def one(option: str, text: str | None) -> float | None:
    """Return the only number in a text; None if nothing was said.

    Raises
    ------
    ConfigError
        If there are several, or it is none.

    Examples
    --------
    >>> one("--half-width", "5%")
    0.05
    """
    if text is None:
        return None
    values = numbers(option, text)
    if len(values) != 1:
        raise ConfigError("size", [Problem(option, f"{len(values)} values", "give one")])
    return values[0]


def names(text: str | None) -> list[str]:
    """Return the names in a text with commas.

    Examples
    --------
    >>> names("t_score at 100, baseline")
    ['t_score at 100', 'baseline']
    """
    return _words(text or "")


def colons(option: str, text: str) -> list[tuple[str, str]]:
    """Return the pairs of names in a text, with commas between them and a colon in each.

    Raises
    ------
    ConfigError
        With each that is no pair.

    Examples
    --------
    >>> colons("--pairs", "t_score:mi, mi:dice")
    [('t_score', 'mi'), ('mi', 'dice')]
    """
    found = [[part.strip() for part in word.split(":")] for word in _words(text)]
    wrong = [":".join(parts) for parts in found if len(parts) != 2 or not all(parts)]
    if wrong:
        problems = [Problem(option, f"{word!r} is no pair", "e.g. t_score:mi") for word in wrong]
        raise ConfigError("size", problems)
    return [(first, second) for first, second in found]


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
