"""Help: every command in a group, with an example that runs."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

import pipeline
from pipeline.cli.app import COMMANDS, EXAMPLES, GROUPS, OTHERS
from pipeline.cli.main import main


def test_every_command_is_in_one_group_and_has_an_example() -> None:
    named = [name for names in GROUPS.values() for name in names]
    assert sorted(named) == sorted(COMMANDS)
    assert set(EXAMPLES) == set(COMMANDS)


def test_the_list_of_commands_is_grouped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    places = [said.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    assert said.index("Run an experiment:") < said.index("\n  gc ") < said.index("Look at results:")
    assert OTHERS + ":" not in said
    for names in GROUPS.values():
        assert EXAMPLES[names[0]][0] in said


def test_a_command_that_nobody_has_grouped_is_listed_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(COMMANDS, "extra", ("sheets", "Do more."))
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert said.index(f"{OTHERS}:") < said.index("  extra ")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_ends_with_its_examples(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    ending = capsys.readouterr().out.partition("Example")[2].splitlines()[1:]
    assert [line.strip() for line in ending] == list(EXAMPLES[name])


SERVE = {"annotate"}
"""Commands that go on until somebody stops them, and want sheets; the chapter on them is walked."""


@pytest.mark.long
def test_examples_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for family in ("clustering", "lexicon"):
        for file in (Path(pipeline.__file__).parent / "cli" / "starters" / family).iterdir():
            if file.suffix != ".toml":
                shutil.copy(file, tmp_path)
    (tmp_path / "novel.txt").write_text("They take the road. We take the bridge.\n" * 9)
    ordered = [name for names in GROUPS.values() for name in names]
    assert ordered.index("new") == 0  # which writes what the others read
    for name in ordered:
        for line in () if name in SERVE else EXAMPLES[name]:
            program, *words = shlex.split(line)
            assert (program, words[0]) == ("lexassay", name)
            assert main(words) == 0, line
