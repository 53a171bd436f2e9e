"""The release: its version, where to report bugs, packages to install, former names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

REPORT_AT = "where you got lexassay"
"""Where bugs are reported: the address of the project's issues, once it has a public one."""


@cache
def own_version() -> str:
    """Return the version of lexassay, such as "1.0.0"."""
    return str(import_module("importlib.metadata").version("lexassay"))


def install_text(*packages: str) -> str:
    """Return how to install packages that lexassay needs for a part of its work.

    Examples
    --------
    >>> install_text("starlette", "uvicorn")
    'pip install starlette uvicorn, or pipx inject lexassay starlette uvicorn'
    """
    return f"pip install {' '.join(packages)}, or pipx inject lexassay {' '.join(packages)}"


class Renaming(NamedTuple):
    """A name that has changed.

    Parameters
    ----------
    new : str
        The name now.
    since : str
        The version that has the new name, such as "1.2": from then on the former one warns.
    until : str
        The version that no longer knows the former one: at least a minor version later, and "2.0"
        for names that 1.x keeps (see docs/stability.md).
    """

    new: str
    since: str
    until: str


class FormerName(FutureWarning):
    """A former name was used; it still works."""


_CLUSTERING = "pipeline.kernels.clustering"
_MOVED = {
    "pipeline.annotate.export": "pipeline.annotate.sync",
    "pipeline.annotate.opening": "pipeline.annotate.tasks",
    "pipeline.engine.worker": "pipeline.engine.base",
    "pipeline.findings.stage": "pipeline.findings.base",
    f"{_CLUSTERING}.overlapping.bcubed": f"{_CLUSTERING}.overlapping.measures",
    f"{_CLUSTERING}.token.information": f"{_CLUSTERING}.token.measures",
    "pipeline.kernels.statistics.binomial_intervals": "pipeline.kernels.statistics.intervals",
    "pipeline.kernels.statistics.multiplicity": "pipeline.kernels.statistics.exact_tests",
    "pipeline.remarks.remark": "pipeline.remarks.base",
    "pipeline.report.blocks": "pipeline.report.view",
    "pipeline.report.charts.base": "pipeline.report.charts.spec",
    "pipeline.report.page.cells": "pipeline.report.view",
    "pipeline.templates": "pipeline.registry",
}
RENAMED: dict[str, dict[str, Renaming]] = {
    "module": {old: Renaming(new, "1.0", "2.0") for old, new in _MOVED.items()},
    "function": {},
    "attribute": {
        "Run.plan": Renaming("Run.query", "1.0", "2.0"),
        "Run.told": Renaming("Run.all_findings", "1.0", "2.0"),
    },
    "stage": {},
    "option": {},
    "measure": {},
    "remark": {
        "left_out": Renaming("skipped_input", "1.0", "2.0"),
        "pool_leaves_out": Renaming("pool_omits", "1.0", "2.0"),
    },
}
"""Former names of each kind: that of a registry, or a module, a function of ``import lexassay``, an
attribute of what it returns, an option of a stage as ``evaluate.precision.cuts``, a remark."""


def current_name(kind: str, name: str) -> str:
    """Return the name of today, and warn if it is another one.

    Parameters
    ----------
    kind : str
        A key of `RENAMED`, or any other kind of name.
    name : str
        As the user wrote it.

    Examples
    --------
    >>> current_name("stage", "score.rank")
    'score.rank'
    """
    current = RENAMED.get(kind, {}).get(name)
    if current is None:
        return name
    text = f"the {kind} {name} was renamed {current.new} in lexassay {current.since}"
    warnings.warn(f"{text}; the former name works until {current.until}", FormerName, stacklevel=3)
    return current.new


def with_current_names(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return an experiment with today's names of its kinds of stages, options and checks.

    A former name beside the new one is left: it is then refused as unknown.

    Parameters
    ----------
    content : mapping of str to value
        As read; what is no table is left to those who check it.
    """
    content = dict(content)
    if isinstance(stages := content.get("stages"), dict):
        content["stages"] = {name: _current_stage(stage) for name, stage in stages.items()}
    if isinstance(remarks := content.get("remarks"), dict):
        content["remarks"] = _current_keys("remark", remarks)
    return content


def _current_stage(stage: Any) -> Any:
    if not isinstance(stage, dict) or not isinstance(stage.get("use"), str):
        return stage
    use = current_name("stage", stage["use"])
    return {**_current_keys("option", stage, f"{use}."), "use": use}


def _current_keys(kind: str, table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    former = [key for key in table if f"{prefix}{key}" in RENAMED[kind]]
    names = {key: current_name(kind, f"{prefix}{key}").removeprefix(prefix) for key in former}
    names = {key: new for key, new in names.items() if new not in table}
    return {names.get(key, key): value for key, value in table.items()}
