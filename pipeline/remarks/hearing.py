"""Hear all checks of a stage, each with its threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from pipeline import causes
from pipeline.errors import LexassayError
from pipeline.registry import Named
from pipeline.remarks.base import CHECKS, Check, Look
from pipeline.remarks.remark import LEVELS, Remark, remark

Threshold: TypeAlias = Annotated[float, Field(ge=0, strict=True)] | Literal[False]
Thresholds: TypeAlias = dict[Annotated[str, Named(CHECKS)], Threshold]
"""``[remarks]``: check to its threshold, or to false if it is to say nothing."""


def heard(look: Look, thresholds: Mapping[str, float | bool]) -> tuple[Remark, ...]:
    """Return what the checks of a stage have to say, what matters most first.

    Parameters
    ----------
    look : Look
        The stage, with what it was given and what it made.
    thresholds : mapping of str to float or False
        Those that an experiment sets.
    """
    found: list[Remark] = []
    for name in CHECKS:
        each = CHECKS.get(name)
        threshold = thresholds.get(name, each.threshold)
        if threshold is not False and (not each.stages or look.use in each.stages):
            found += _of(each, look, threshold)
    return tuple(sorted(found, key=lambda one: LEVELS.index(one.level)))


def _of(each: Check, look: Look, threshold: float) -> list[Remark]:
    """Return the remarks of one check; one that fails does not take the results with it."""
    try:
        return list(each.remarks(look, threshold))
    except LexassayError:
        raise
    except Exception as error:  # whatever it is: the results stand
        why = causes.in_words(error).replace("\n", ". ")
        text = f"this check could not be made: {why.removesuffix('.')}"
        switch = f"[remarks] {each.name} = false leaves it out"
        return [remark("note", text, remedy=switch).model_copy(update={"check": each.name})]
