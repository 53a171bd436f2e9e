"""Completion: the words offered at each position, in bash, zsh and fish."""

from __future__ import annotations

import importlib.util
import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from pipeline.cli import completion
from pipeline.cli.app import COMMANDS
from pipeline.cli.completion import CommandLine, answer, offers
from pipeline.cli.main import main
from tests.runner.commands import environment
from tests.small_experiment import SMALL

SCRIPT = f'#!/bin/sh\nexec {sys.executable} -P -m pipeline.cli "$@"\n'
PATIENCE = 60.0
STEADY = {"altair", "polars", "numpy", "pydantic", "rich", "schemas"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "x.toml").write_text(SMALL)
    (tmp_path / "y.toml").write_text("stages = 3")
    (tmp_path / "table.tsv").write_text("")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "z.toml").write_text("broken [")
    (tmp_path / "runs" / "small" / "history").mkdir(parents=True)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "lexassay").write_text(SCRIPT)
    (programs / "lexassay").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def offered_words(line: str) -> list[str]:
    """Return the words offered at the end of a line after the name of the program."""
    *words, start = line.split(" ")
    return [each.word for each in offers(CommandLine(words, start))]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", list(COMMANDS)),
        ("st", ["status"]),
        ("--v", ["--version"]),
        ("run ", ["x.toml", "y.toml"]),
        ("run more/", ["more/z.toml"]),
        ("run nowhere/", []),
        ("run x.toml ", []),
        ("run x.toml --forc", ["--force"]),
        ("run x.toml --force s", ["scores"]),
        ("run x.toml --force=s", ["--force=scores"]),
        ("run --force ranks ", ["x.toml", "y.toml"]),
        ("run --force ", []),
        ("run --dry x", ["x.toml"]),
        ("why x.toml can", ["candidates"]),
        ("why y.toml ", []),
        ("why more/z.toml ", []),
        ("show x.toml j", ["judgements", "judgements.coverage"]),
        ("show x.toml ranks --words --f", ["--format"]),
        ("show x.toml ranks --format p", ["parquet"]),
        ("show x.toml ranks --format=c", ["--format=csv"]),
        ("measures --format m", ["markdown"]),
        ("diff sm", ["small:latest", "small:latest~1"]),
        ("score ", []),
        ("score a.tsv --measures log_r", ["log_ratio"]),
        ("score a.tsv --measures mi,log_ratio,dic", ["mi,log_ratio,dice"]),
        ("score a.tsv --output ", []),
        ("new ", ["clustering", "collocations", "corpus", "lexicon"]),
        ("new collocations ", []),
        ("schema ", []),
        ("schema --h", ["--help"]),
        ("unknown --", ["--help"]),
    ],
)
def test_fitting_words_are_offered(line: str, words: list[str]) -> None:
    assert offered_words(line) == words


def test_names_with_blanks_are_not_offered(folder: Path) -> None:
    (folder / "two words.toml").write_text("")
    assert offered_words("run t") == []


def completion_variables(shell: str, line: str) -> dict[str, str]:
    """Return the variables that the script of a shell sets."""
    words = line.split(" ")
    bash_variables = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    own = bash_variables if shell == "bash" else {"_TYPER_COMPLETE_ARGS": line}
    return {"_LEXASSAY_COMPLETE": f"complete_{shell}", **own}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("variables", "code", "output"),
    [
        (completion_variables("bash", "lexassay st"), 0, "status\n"),
        (completion_variables("bash", "lexassay run x.toml --force = sc"), 0, "scores\n"),
        (completion_variables("bash", "lexassay score 'my fi"), 0, "\n"),
        (completion_variables("zsh", "lexassay st"), 0, "_arguments '*: :((\"status\":\"Show the state of an experiment.\"))'\n"),
        (completion_variables("zsh", "lexassay score "), 0, "_files\n"),
        (completion_variables("zsh", "lexassay diff small:l"), 0, '_arguments \'*: :(("small\\\\:latest"\n"small\\\\:latest~1"))\'\n'),
        (completion_variables("fish", "lexassay st"), 0, "status\tShow the state of an experiment.\n"),
        (completion_variables("fish", "lexassay st") | {"_TYPER_COMPLETE_FISH_ACTION": "is-args"}, 0, ""),
        (completion_variables("fish", "lexassay score ") | {"_TYPER_COMPLETE_FISH_ACTION": "is-args"}, 1, ""),
    ],
)  # fmt: skip
def test_each_shell_gets_its_own_format(
    variables: Mapping[str, str], code: int, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(variables) == code
    assert capsys.readouterr().out == output


def test_completion_imports_no_command(folder: Path) -> None:
    program = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from pipeline.cli.main import script\nscript()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env=environment(more=completion_variables("bash", "lexassay show x.toml r")), cwd=folder,
    )  # fmt: skip
    assert result.stdout == "ranks\n"
    modules = result.stderr.split()
    assert "pipeline.cli.completion" in modules
    assert not STEADY & set(modules)


def test_arguments_of_commands_can_be_completed() -> None:
    kinds = {kind for row in COMMANDS.values() for kind in row.arguments}
    assert kinds <= {"config", "stage", "table", "run", "family", "measure", "file"}


@pytest.fixture(scope="module")
def update() -> ModuleType:
    place = Path(__file__).parents[2] / "docs" / "update_completion.py"
    spec = importlib.util.spec_from_file_location("update_completion", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stored_words_are_current(update: ModuleType) -> None:
    path = Path(str(completion.FILE))
    assert path.read_text(encoding="utf-8") == update.content(), (
        "run: python docs/update_completion.py"
    )


def shell(name: str) -> str:
    """Return the path of a shell, or skip the test if it is missing."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def variables(folder: Path) -> dict[str, str]:
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return environment(more={"PATH": path, "HOME": str(folder), "TERM": "dumb"})


def script_of(name: str, folder: Path) -> Path:
    """Let the shell request its completion script, and return the path of the script."""
    result = subprocess.run(
        [shell(name), "-c", "lexassay --show-completion; true"],
        capture_output=True, text=True, check=True, env=variables(folder), cwd=folder,
    )  # fmt: skip
    place = folder / f"completion.{name}"
    place.write_text(result.stdout)
    return place


def test_completion_works_in_bash(folder: Path) -> None:
    script = script_of("bash", folder)
    lines = [
        f"source {script}",
        "complete -p lexassay",
        "COMP_WORDS=(lexassay show x.toml jud); COMP_CWORD=3",
        '_lexassay_completion lexassay; echo "${COMPREPLY[@]}"',
        "COMP_WORDS=(lexassay run x.toml --force = ra); COMP_CWORD=5",
        '_lexassay_completion lexassay; echo "${COMPREPLY[@]}"',
    ]
    result = subprocess.run(
        [shell("bash"), "--norc", "-c", "\n".join(lines)],
        capture_output=True, text=True, check=True, env=variables(folder), cwd=folder,
    )  # fmt: skip
    assert result.stdout.splitlines() == [
        "complete -o default -F _lexassay_completion lexassay",
        "judgements judgements.coverage",
        "ranks",
    ]


def test_completion_works_in_fish(folder: Path) -> None:
    script = script_of("fish", folder)
    for line, words in [
        ("lexassay show x.toml jud", ["judgements", "judgements.coverage"]),
        ("lexassay sta", ["status"]),
        ("lexassay run x.toml --force=ra", ["--force=ranks"]),
        ("lexassay score x.to", ["x.toml"]),  # a file
    ]:
        result = subprocess.run(
            [shell("fish"), "--no-config", "-c", f"source {script}; complete -C '{line}'"],
            capture_output=True, text=True, check=True, env=variables(folder), cwd=folder,
        )  # fmt: skip
        assert [each.partition("\t")[0] for each in result.stdout.splitlines()] == words


def test_completion_works_in_zsh(folder: Path) -> None:
    script = script_of("zsh", folder)
    setting = f"PS1='> '; autoload -Uz compinit; compinit -u -D; source {script}\n"
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        [shell("zsh"), "-f", "-i"], stdin=theirs, stdout=theirs, stderr=theirs,
        env=variables(folder), cwd=folder, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    try:
        os.write(mine, setting.encode() + b"echo re''ady\n")
        read_until(mine, "ready")
        os.write(mine, b"lexassay why x.toml cand\t")
        read_until(mine, "candidates")
        os.write(mine, b"\x15lexassay sta\t")
        read_until(mine, "status")
        os.write(mine, b"\x15lexassay score tab\t")
        read_until(mine, "table.tsv")
    finally:
        process.kill()
        process.wait()
        os.close(mine)


def read_until(terminal: int, words: str) -> None:
    """Read the output of a terminal until it contains these words."""
    text, until = "", time.monotonic() + PATIENCE
    while words not in text and time.monotonic() < until:
        if select.select([terminal], [], [], 1.0)[0]:
            text += os.read(terminal, 65536).decode(errors="replace")
    assert words in text


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("bash", ".bash_completions/lexassay.sh"),
        ("zsh", ".zfunc/_lexassay"),
        ("fish", ".config/fish/completions/lexassay.fish"),
    ],
)
def test_completion_can_be_installed(name: str, place: str, folder: Path) -> None:
    result = subprocess.run(
        [shell(name), "-c", "lexassay --install-completion; true"],
        capture_output=True, text=True, check=True, env=variables(folder), cwd=folder,
    )  # fmt: skip
    assert f"{name} completion installed in" in result.stdout
    assert "\x1b" not in result.stdout
    assert (folder / place).read_text().strip() == script_of(name, folder).read_text().strip()


def test_an_empty_variable_of_the_library_is_ignored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_LEXASSAY_COMPLETE", "")
    assert main(["--version"]) == 0
    assert "lexassay" in capsys.readouterr().out
