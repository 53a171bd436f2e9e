"""Problems of an experiment: those that pydantic finds, and unknown stages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pipeline.errors import ConfigError, Problem, did_you_mean

UNKNOWN = "unknown key"
_TYPE = re.compile(r"[\[(]|^(bool|float|int|str)$")
"""Names of types, which pydantic puts into paths of unions."""
_MESSAGES = {
    "bool": "should be true or false",
    "int": "should be a whole number",
    "float": "should be a number",
    **dict.fromkeys(("string", "str"), "should be text"),
    **dict.fromkeys(("list", "tuple", "set", "frozen_set", "iterable"), "should be a list"),
    **dict.fromkeys(("dict", "mapping", "model", "model_attributes"), "should be a table"),
    "too_short": "is too short (minimum {min_length})",
    "too_long": "is too long (maximum {max_length})",
    "string_too_short": "is too short (minimum {min_length})",
    "string_too_long": "is too long (maximum {max_length})",
    "string_pattern_mismatch": "should {pattern}",
    "greater_than": "should be more than {gt}",
    "greater_than_equal": "should be {ge} or more",
    "less_than": "should be less than {lt}",
    "less_than_equal": "should be {le} or less",
    "literal_error": "should be {expected}",
    "finite_number": "should be finite",
    "int_from_float": "should be a whole number",
}
"""Kinds of errors as pydantic names them, in the words of TOML."""
_PATTERNS = {
    r"^[A-Za-z0-9][A-Za-z0-9._-]*$":
        "have only letters a-z, digits and . _ -, no spaces, and begin with a letter or digit",
    r"^[\w-]+$": "have only letters, digits, _ and -, no spaces",
    r"^[^\W\d]\w*$": "have only letters, digits and _, no spaces, and not begin with a digit",
    r"^[0-9a-f]{64}$": "be 64 digits from 0-9 and a-f",
}  # fmt: skip
"""Patterns of texts, and what a text should do, in words."""
_SHOWN = 60
"""Characters of a value that are shown."""


def unknown_stage(name: str, stages: Iterable[str], *, where: str = "", kind: str = "") -> Problem:
    """Return the problem of a name that no stage has, with the nearest names.

    Parameters
    ----------
    name : str
        The name as typed.
    stages : iterable of str
        The valid names.
    where : str
        The option that names the stage; if empty, the name itself is the place.
    kind : str
        Restriction of the valid stages: "with judgements".

    Examples
    --------
    >>> print(unknown_stage("score", ["scores", "ranks"]))
    score: unknown stage; did you mean scores?
    >>> print(unknown_stage("score", ["ranks"], where="pilot", kind="with judgements"))
    pilot: no stage 'score' with judgements; valid: ranks
    """
    quoted = f" {name!r}" if where else ""
    what = f"no stage{quoted} {kind}" if kind else f"unknown stage{quoted}"
    return Problem(where or name, what, did_you_mean(name, stages))


def require_stage(
    name: str, stages: Collection[str], source: str, *, where: str = "", kind: str = ""
) -> None:
    """Raise ConfigError of a source (a command or option) if no stage has the name."""
    if name not in stages:
        raise ConfigError(source, [unknown_stage(name, stages, where=where, kind=kind)])


def problems_of(
    error: ValidationError,
    model: type[BaseModel],
    content: Mapping[str, Any],
    *,
    prefix: str = "",
    also: Iterable[str] = (),
) -> list[Problem]:
    """Return one problem for every error that pydantic found.

    Parameters
    ----------
    error : ValidationError
        The error of the validation.
    model : type of BaseModel
        The model that was validated, for the valid names.
    content : mapping
        The validated content, to distinguish its keys from pydantic's own markers.
    prefix : str
        Dotted path of the model within the file.
    also : iterable of str
        Further valid keys.
    """
    problems: dict[str, Problem] = {}
    for each in error.errors(include_url=False):
        path = _path(each["loc"], content)
        where = ".".join(filter(None, [prefix, *path]))
        if each["type"] == "extra_forbidden":
            near = did_you_mean(path[-1], [*_names(model, path[:-1]), *also])
            problem = Problem(where, UNKNOWN, near)
        else:
            problem = Problem(where or "file", _what(each))
        problems.setdefault(where, problem)
    # Of several types that a value might have been meant as, the one that it comes nearest.
    leaves = [
        problem
        for where, problem in problems.items()
        if not any(other.startswith(f"{where}.") for other in problems)
    ]
    # Unknown keys come first: a missing key is often a misspelt one.
    return sorted(leaves, key=lambda each: each.what != UNKNOWN)


def _what(error: ErrorDetails) -> str:
    """Return the error in terms of TOML."""
    kind, value = error["type"], repr(error.get("input"))
    if kind == "missing":
        return "is required but missing"
    text = error["msg"].removeprefix("Value error, ")
    text = text[:1].lower() + text[1:]
    if kind == "value_error":
        return text
    known = _MESSAGES.get(kind) or _MESSAGES.get(
        kind.removesuffix("_type").removesuffix("_parsing")
    )
    excerpt = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}..."
    facts = dict(error.get("ctx", {}))
    if "pattern" in facts:
        facts["pattern"] = _PATTERNS.get(facts["pattern"], f"match {facts['pattern']}")
    return f"{known.format(**facts) if known else text} (found {excerpt})"


def _path(location: tuple[int | str, ...], content: Any) -> list[str]:
    """Keep what leads through the content, not the types tried; the last step may be absent."""
    path: list[str] = []
    place = content
    for number, step in enumerate(location, start=1):
        if isinstance(place, Mapping) and isinstance(step, str):
            if step not in place and (number < len(location) or _TYPE.search(step)):
                continue
            path.append(step)
            place = place.get(step)
        elif isinstance(place, list | tuple) and isinstance(step, int):
            path.append(str(step))
            place = place[step] if step < len(place) else None
    return path


def _names(model: type[BaseModel], path: list[str]) -> list[str]:
    """Return the valid keys at a path below a model."""
    current: type[BaseModel] = model
    for step in path:
        field = current.model_fields.get(step)
        # Other parts are keys or positions among several of the model.
        current = next(iter(_models(field.annotation if field else None)), current)
    return list(current.model_fields)


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]
