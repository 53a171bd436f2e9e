"""What the README shows works: its experiment is valid, its extensions register and run."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer

from pipeline.cli.app import COMMANDS, app_for
from pipeline.cli.run import json_schema

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
USES = {
    "measure": """
import pipeline as lx
frame = pl.DataFrame({"f": [4], "f1": [8], "f2": [8], "N": [100]})
assert lx.score(frame, measures=["confidence"])["confidence"].item() == 0.5
""",
    "stage": """
from pipeline.stages.base import STAGES
found = STAGES.get("extract.frequent")
table = pl.LazyFrame({"f": [4, 5]})
made = found.run(found.config(candidates="c"), {"candidates": table})
assert made["candidates"].collect()["f"].to_list() == [5]
""",
    "reader": """
import tempfile
from pipeline.formats.base import format_of
path = Path(tempfile.mkdtemp()) / "t.arrow"
pl.DataFrame({"l1": ["a"]}).write_ipc(path)
found = format_of(path.name)
found.check(path, found.options())
assert found.scan(path, found.options()).collect().rows() == [(1, "a")]
path.write_bytes(b"x")
try:
    found.check(path, found.options())
except DataError:
    pass
else:
    raise SystemExit("a damaged file was accepted")
""",
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_experiment() -> None:
    shown = next(block for block in blocks("toml") if "[stages" in block)
    jsonschema.Draft202012Validator(json_schema()).validate(tomllib.loads(shown))


@pytest.mark.parametrize("decorator", sorted(USES))
def test_extension_in_twenty_lines(decorator: str) -> None:
    shown = next(block for block in blocks("python") if f"@{decorator}(" in block)
    assert len([line for line in shown.splitlines() if line.strip()]) <= 22
    code = shown + USES[decorator]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_links_lead_somewhere() -> None:
    root = Path(__file__).parents[2]
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (root / target).exists(), target


def synopsis() -> list[str]:
    """Return the entries of the list of commands, a line or several each."""
    part = README.split("\n## Commands\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("    ")]
    return ["    lexassay" + entry for entry in "\n".join(lines).split("    lexassay")[1:]]


def options_of(words: list[str]) -> set[str]:
    """Return the options of a command; those of the program if none is called."""
    group = typer.main.get_command(app_for(words))
    found: Any = group
    if words:
        found = getattr(group, "commands")[words[0]]  # noqa: B009, of a group alone
    return {name for option in found.params for name in (*option.opts, *option.secondary_opts)}


@pytest.mark.parametrize("entry", synopsis(), ids=lambda entry: entry.split()[1])
def test_a_line_of_the_commands_names_what_there_is(entry: str) -> None:
    name = entry.split()[1]
    words = [] if name.startswith("--") else [name]
    assert set(words) <= set(COMMANDS)
    assert set(re.findall(r"--[a-z][a-z-]*", entry)) <= options_of(words)


def test_every_command_has_a_line() -> None:
    assert set(COMMANDS) <= {entry.split()[1] for entry in synopsis()}
