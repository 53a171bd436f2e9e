"""Pydantic's errors as problems: dotted path, what is wrong, nearest valid names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from pipeline.errors import Problem, did_you_mean

_TYPE = re.compile(r"[\[(]|^(bool|float|int|str)$")
"""Names of types, which pydantic puts into paths where it tries one after the other."""


def problems_of(
    error: ValidationError, model: type[BaseModel], content: Mapping[str, Any], *, prefix: str = ""
) -> list[Problem]:
    """Return one problem for every mistake that pydantic found.

    Parameters
    ----------
    error : ValidationError
        What validation raised.
    model : type of BaseModel
        The model that was validated, for the valid names.
    content : mapping
        What was validated: tells keys of the file from pydantic's own markers.
    prefix : str
        Dotted path of the model within the file.
    """
    problems: dict[str, Problem] = {}
    for each in error.errors(include_url=False):
        path = _path(each["loc"], content)
        where = ".".join(filter(None, [prefix, *path]))
        if each["type"] == "extra_forbidden":
            near = did_you_mean(path[-1], _names(model, path[:-1]))
            problem = Problem(where, "unknown key", near)
        else:
            problem = _problem(where or "file", each["type"], each["msg"], each.get("input"))
        problems.setdefault(where, problem)
    # Of several types that a value might have been meant as, the one that it comes nearest.
    return [problem for where, problem in problems.items() if not _goes_on(where, problems)]


def _goes_on(where: str, others: Iterable[str]) -> bool:
    return any(other.startswith(f"{where}.") for other in others)


def _problem(where: str, kind: str, message: str, value: Any) -> Problem:
    if kind == "missing":
        return Problem(where, "is required but absent")
    text = message.removeprefix("Value error, ")
    text = text[:1].lower() + text[1:].replace("valid tuple", "list")  # as TOML calls it
    return Problem(where, text if kind == "value_error" else f"{text} (found {value!r})")


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
        # What is no field of it is a key, or a place, among several of the model.
        current = next(iter(_models(field.annotation if field else None)), current)
    return list(current.model_fields)


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]
