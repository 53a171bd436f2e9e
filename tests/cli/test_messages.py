"""Options and commands named in messages exist, and failures to write are explained."""

from __future__ import annotations

import ast
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
import typer

from pipeline.cli.app import COMMANDS, app_for
from pipeline.cli.main import main
from tests.runner.commands import call, environment, execute, finish
from tests.test_errors import LIBRARY

PACKAGE = Path(str(files("pipeline")))
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
COMMAND = re.compile(r"(?:^|[ `;:])lexassay ([a-z]+)")
EVERYWHERE = {
    *("--debug", "--help", "--version"),
    *("--install-completion", "--show-completion"),
}
SAY = {
    "runner/store/local.py": {
        *("run", "plan", "why", "status", "sheets", "gc"),
        "show",
        "diff",
        "size",
    },
    "runner/inputs.py": {*("run", "plan", "why", "status", "sheets", "gc"), "show", "size"},
    "cli/output.py": {"show", "score"},  # `size` shows all rows, so that none is beyond --rows
}
"""The commands that print messages of a shared module which names options."""


def options(command: str) -> set[str]:
    """Return the options of a command."""
    group = typer.main.get_command(app_for([command]))
    context = typer.Context(group)
    parsed = group.get_command(context, command)  # type: ignore[attr-defined]  # a group has it
    names = {name for each in parsed.params for name in [*each.opts, *each.secondary_opts]}
    return EVERYWHERE | {name for name in names if name.startswith("--")}


OF_OTHERS = {"api/run.py"}
"""Modules whose texts are read by another program."""
OPTIONS = {command: options(command) for command in COMMANDS}


def texts(path: Path) -> Iterator[str]:
    """Yield the texts of a module except docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in alone:
            yield each.value


def test_options_and_commands_named_in_messages_exist() -> None:
    wrong = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        messages = list(texts(path))
        used = {option for text in messages for option in OPTION.findall(text)}
        own = {command for command, row in COMMANDS.items() if f"cli/{row.module}.py" == name}
        missing = used - set().union(*(OPTIONS[each] for each in own or COMMANDS))
        missing |= {each for command in SAY.get(name, ()) for each in used - OPTIONS[command]}
        commands = {command for text in messages for command in COMMAND.findall(text)}
        missing |= commands - {*COMMANDS, "for", "from", "labels", "needs"}
        if missing and name not in OF_OTHERS:
            wrong[name] = missing
    assert wrong == {}


def test_options_are_found_in_messages() -> None:
    used = {option for path in PACKAGE.rglob("*.py") for text in texts(path)
             for option in OPTION.findall(text)}  # fmt: skip
    assert {"--runs", "--data", "--overwrite", "--deliver", "--rows"} <= used


@pytest.mark.parametrize("place", ["file", "folder/../file/below", "/proc/lexassay"])
def test_new_reports_an_unwritable_folder(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome = call(["new", "lexicon", str(tmp_path / place)])
    assert outcome.code == 1
    assert "choose another folder" in outcome.err
    assert set(OPTION.findall(outcome.err)) <= OPTIONS["new"]
    assert not LIBRARY.search(outcome.err)


def test_the_command_that_new_prints_can_be_pasted(tmp_path: Path) -> None:
    outcome = call(["new", "lexicon", str(tmp_path / "Mein Ordner ö")])
    assert shlex.split(outcome.out)[-1] == str(tmp_path / "Mein Ordner ö" / "experiment.toml")


CANDIDATES = "l1\tl2\tf\tf1\tf2\tN\na\tb\t1\t2\t3\t99\n"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("folder", "folder cannot be written: it is a folder, not a file"),
        ("x" * 300 + ".csv", "cannot be written: the path or a name in it is too long"),
        ("/dev/full", "/dev/full cannot be written: the disk is full"),
        ("/proc/x.csv", "/proc/x.csv cannot be written: the file or its folder does not exist"),
    ],
)
def test_unwritable_output_is_explained(place: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "x.tsv").write_text(CANDIDATES)
    to = str(tmp_path / place)
    more = ["--measures", "mi", "--output", to, "--format", "csv", "--overwrite"]
    outcome = call(["score", str(tmp_path / "x.tsv"), *more])
    assert outcome.code == 1
    assert message in outcome.err
    assert "choose another file or folder" in outcome.err
    assert not LIBRARY.search(outcome.err)


def test_output_into_a_read_only_folder_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.tsv").write_text(CANDIDATES)

    def refuse(self: Path, _content: bytes) -> int:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    outcome = call(["score", str(tmp_path / "x.tsv"), "--output", str(tmp_path / "y.csv")])
    assert outcome.code == 1
    assert outcome.err.startswith(
        f"lexassay: {tmp_path / 'y.csv'} cannot be written: permission denied"
    )


@pytest.mark.parametrize("command", ["run", "plan", "status"])
def test_an_impossible_folder_of_results_is_explained(command: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text(CANDIDATES)
    config = tmp_path / "x.toml"
    config.write_text('name = "x"\n[stages.c]\nuse = "extract.table"\npath = "pairs.tsv"\n')
    outcome = call([command, str(config), "--runs", str(tmp_path / ("x" * 300))])
    assert outcome.code == 1
    assert "the path or a name in it is too long" in outcome.err
    assert not LIBRARY.search(outcome.err)


def test_a_damaged_table_is_explained(tmp_path: Path) -> None:
    (tmp_path / "x.tsv.gz").write_bytes(b"\x1f\x8b\x08\x00 nothing")
    (tmp_path / "x.parquet").write_bytes(b"PAR1 nothing PAR1")
    for name in ("x.tsv.gz", "x.parquet"):
        outcome = call(["score", str(tmp_path / name)])
        assert outcome.code == 1
        assert outcome.err.startswith(f"lexassay: {tmp_path / name}: ")
        assert not LIBRARY.search(outcome.err)
    outcome = call(["score", str(tmp_path / ("x" * 300 + ".tsv"))])
    assert outcome.code == 1
    assert "is too long" in outcome.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["size", "--candidates", "\ud800"], "'--candidates': it has a byte that is not UTF-8"),
        (["show", "x.toml", "--rows", "\udcff"], "'--rows': it has a byte that is not UTF-8"),
        (["size", "--candidates", "x"], "'--candidates': it should be a whole number (found 'x')"),
        (["size", "--confidence", "x"], "'--confidence': it should be a number (found 'x')"),
        (["score", "x.tsv", "--rows", "0"], "'--rows': it should be greater than or equal to 1"),
        (["show", "x.toml", "a", "--format"], "Option '--format' requires an argument."),
        (["shw"], "No such command 'shw'."),
    ],
)
def test_invalid_arguments_are_explained_in_plain_words(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert message in capsys.readouterr().err


def test_a_file_name_that_is_not_utf8_is_explained() -> None:
    command: list[str | bytes] = [sys.executable, "-m", "pipeline.cli", "status", b"\xff.toml"]
    outcome = subprocess.run(command, capture_output=True, check=False)
    assert outcome.returncode == 2
    assert b"codec" not in outcome.stderr
    assert b"does not exist" in outcome.stderr


# The command in a shell with a limited address space or character set

GIGABYTE = 1 << 20
"""A gigabyte in the unit of `ulimit -v`."""


def start_limited(path: Path, polars: str, *, gigabytes: int) -> subprocess.Popen[str]:
    """Start a command under `ulimit -v`, with a module in place of Polars."""
    (path / "polars.py").write_text(polars)
    script = f"ulimit -v {gigabytes * GIGABYTE}; exec {sys.executable} -m pipeline.cli measures"
    words, pipe = ["sh", "-c", script], subprocess.PIPE
    return subprocess.Popen(words, env=environment([path]), text=True, stdout=pipe, stderr=pipe)


@pytest.mark.parametrize(
    ("polars", "gigabytes"),
    [("", 1), ("import os; os.abort()", 4), ("import os; os._exit(1)", 4)],
    ids=["few", "abort", "exit"],
)
def test_a_limited_address_space_is_explained(polars: str, gigabytes: int, tmp_path: Path) -> None:
    """Libraries end the process if they cannot reserve more addresses."""
    outcome = finish(start_limited(tmp_path, polars, gigabytes=gigabytes))
    assert outcome.code == 1
    assert outcome.err.startswith("lexassay: out of memory: ulimit -v limits the address space")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_a_command_with_limited_address_space_can_be_stopped(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    """The worker process ends as well."""
    waits = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    process = start_limited(tmp_path, waits, gigabytes=4)
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    assert worker != process.pid
    process.send_signal(number)
    outcome = finish(process)  # returns only if the output is closed
    assert outcome.code == code
    assert outcome.err == ("lexassay: interrupted\n" if code > 0 else "")


@pytest.mark.long
def test_output_is_escaped_for_ascii_terminals(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("l1\tl2\tf\tf1\tf2\tN\ngrün\tÄpfel\t1\t2\t3\t99\n")
    words = ["score", str(tmp_path / "x.tsv"), "--measures", "mi"]
    code = execute(words, env=environment(more={"PYTHONIOENCODING": "ascii"}))
    assert code.code == 0
    assert code.out.splitlines()[1].startswith("+------+")
    assert "| gr\\xfcn | \\xc4pfel | 1 |" in code.out
