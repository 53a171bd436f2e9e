"""Write the words that the shell completes: options of the commands, tables, measures, families.

python docs/update_completion.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from pipeline.cli.app import COMMANDS, app_for
from pipeline.cli.templates import families
from pipeline.kernels.measure import MEASURES
from pipeline.registry import Registry
from pipeline.stages.base import STAGES

WORDS = Path(__file__).parents[1] / "pipeline" / "cli" / "completion_words.py"
HEAD = '''"""Words that the shell completes; made by docs/update_completion.py."""

from __future__ import annotations

from collections.abc import Mapping
'''
_LONGEST = 60
_END = re.compile(r"(?<!e\.g)\. |;")


def content() -> str:
    """Return the module with the words of today."""
    return "\n".join([
        HEAD,
        f"OPTIONS: Mapping[str, Mapping[str, tuple[bool, str]]] = {_code(options())}",
        '"""Of each command its options: whether a value follows, and what it is."""',
        f"TABLES: Mapping[str, tuple[str, ...]] = {_code(tables())}",
        '"""The tables of each kind of stage, the main one first."""',
        f"MEASURES = {_code(measures())}",
        f"FAMILIES = {_code(tuple(sorted(families())))}",
        "",
    ])  # fmt: skip


def options() -> dict[str, dict[str, tuple[bool, str]]]:
    """Return the options of each command."""
    return {name: dict(_options(name)) for name in COMMANDS}


def tables() -> dict[str, tuple[str, ...]]:
    """Return the tables of each kind of stage."""
    return {name: tuple(STAGES.get(name).outputs) for name in sorted(_own(STAGES))}


def measures() -> tuple[str, ...]:
    """Return the names of association measures."""
    return tuple(sorted({"all", *_own(MEASURES)}))


def _own(registry: Registry[Any]) -> list[str]:
    """Return the names that the project itself registers, not an extension or a test."""
    return [name for name in registry if registry.module(name).startswith("pipeline.")]


def _options(command: str) -> Iterator[tuple[str, tuple[bool, str]]]:
    group: Any = typer.main.get_command(app_for([command]))
    found = group.get_command(typer.Context(group), command)
    for each in found.params:
        if each.param_type_name == "option":
            text = _END.split(each.help or "")[0].removesuffix(".")
            short = text if len(text) <= _LONGEST else f"{text[:_LONGEST].rpartition(' ')[0]} ..."
            for name in [*each.opts, *each.secondary_opts]:
                yield name, (not each.is_flag, short)


def _code(value: object, indent: str = "") -> str:
    """Return a value as the formatter would write it, an item a line."""
    if value == {}:
        return "{}"
    inner = f"{indent}    "
    if isinstance(value, dict):
        items = (f"{inner}{_code(key)}: {_code(each, inner)},\n" for key, each in value.items())
        return f"{{\n{''.join(items)}{indent}}}"
    if isinstance(value, tuple) and len(value) == 1:
        return f"({_code(value[0])},)"
    if isinstance(value, tuple) and all(isinstance(each, str) for each in value):
        words = "".join(f"{inner}{_code(each)},\n" for each in value)
        return f"(\n{words}{indent})"
    if isinstance(value, tuple):
        return f"({', '.join(map(_code, value))})"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    WORDS.write_text(content(), encoding="utf-8")
