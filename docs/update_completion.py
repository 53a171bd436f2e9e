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
from pipeline.cli.run import families
from pipeline.kernels.measure import MEASURES
from pipeline.registry import Registry
from pipeline.stages.base import STAGES

WORDS = Path(__file__).parents[1] / "pipeline" / "cli" / "completion_words.json"
_LONGEST = 60
_END = re.compile(r"(?<!e\.g)\. |;")


def content() -> str:
    """Return the file with the words of today."""
    words = {
        "options": options(),
        "tables": tables(),
        "measures": measures(),
        "families": sorted(families()),
    }
    return json.dumps(words, indent=1, ensure_ascii=False) + "\n"


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
    return [name for name in registry if registry.place(name).startswith("pipeline.")]


def _options(command: str) -> Iterator[tuple[str, tuple[bool, str]]]:
    group: Any = typer.main.get_command(app_for([command]))
    entry = group.get_command(typer.Context(group), command)
    for each in entry.params:
        if each.param_type_name == "option":
            text = _END.split(each.help or "")[0].removesuffix(".")
            short = text if len(text) <= _LONGEST else f"{text[:_LONGEST].rpartition(' ')[0]} ..."
            for name in [*each.opts, *each.secondary_opts]:
                yield name, (not each.is_flag, short)


if __name__ == "__main__":
    WORDS.write_text(content(), encoding="utf-8")
