"""Base of typed options, described by the text below each field.

The texts are read on demand: pydantic would read them for every class at every start (.1 s).
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict


def _describe(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Put the texts into a JSON Schema."""
    properties = schema.get("properties", {})
    for name, text in descriptions(model).items():
        if name in properties:
            properties[name].setdefault("description", text)


class OptionModel(BaseModel):
    """Base of typed options: frozen, no unknown keys, described by the texts below the fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_describe)


def descriptions(model: type[BaseModel]) -> dict[str, str]:
    """Return the description of each field that has one.

    Parameters
    ----------
    model : type of BaseModel
        With a string below its fields, or below those of its bases.

    Examples
    --------
    >>> from pipeline.stages.base import SeedOptions
    >>> descriptions(SeedOptions)
    {'seed': 'Seed of the stage (default: the seed of the experiment).'}
    """
    own: dict[str, str] = {}
    for each in reversed(model.__mro__):
        texts = _texts(each.__module__).get(each.__qualname__, {})
        for name in inspect.get_annotations(each):
            own.pop(name, None)  # a redefined field has its own text or none
            if name in texts:
                own[name] = texts[name]
    explicit = {name: field.description for name, field in model.model_fields.items()}
    return {name: text for name in explicit if (text := explicit[name] or own.get(name))}


@cache
def _texts(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the texts below the fields of each class of a module, by its qualified name."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, KeyError, SyntaxError):  # it has no source at hand
        return {}
    return dict(_classes(tree, ""))


def _classes(node: ast.AST, above: str) -> Iterator[tuple[str, dict[str, str]]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield f"{above}{child.name}", dict(_fields(child))
            yield from _classes(child, f"{above}{child.name}.")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _classes(child, f"{above}{child.name}.<locals>.")
        else:
            yield from _classes(child, above)


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in zip(node.body, node.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            yield field.target.id, inspect.cleandoc(below.value.value)
