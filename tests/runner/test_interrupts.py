"""Ctrl-C and SIGTERM during a run: one sentence, no lock left, and the run can continue."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock

from pipeline.api.results import run_stages
from pipeline.api.run import check
from pipeline.errors import Interruption
from pipeline.runner.events import Event
from pipeline.runner.fingerprint import Digests
from tests.runner.commands import Outcome, environment, finish
from tests.runner.extensions import slow
from tests.runner.laboratory import Gate, Laboratory, assert_whole, build, wait_until

RESUME_HINT = "run the same command to continue"
SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return slow(tmp_path_factory.mktemp("plugin"))


def stop(process: subprocess.Popen[str], number: signal.Signals = signal.SIGINT) -> Outcome:
    process.send_signal(number)
    return finish(process)


def assert_reported(outcome: Outcome, number: signal.Signals = signal.SIGINT) -> None:
    assert outcome.code == 128 + number, outcome.text
    assert "interrupted" in outcome.err
    assert "Traceback" not in outcome.text
    assert "KeyboardInterrupt" not in outcome.text


def assert_left_tidy(laboratory: Laboratory) -> None:
    assert laboratory.record().outcome == "interrupted"
    for lock in laboratory.root.glob("*/.lock"):
        with FileLock(lock).acquire(timeout=0):
            pass
    assert list(laboratory.root.rglob(".staging-*")) == []
    assert_whole(laboratory.root)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.long
def test_a_run_is_interrupted_between_two_shards(
    laboratory: Laboratory, plugin: Path, number: signal.Signals
) -> None:
    gate = laboratory.insert_gate()
    gate.permit()
    process = laboratory.start("run", path=[plugin])
    wait_until(lambda: laboratory.shards_done("slow") == 1, laboratory)
    outcome = stop(process, number)
    assert_reported(outcome, number)
    assert RESUME_HINT in outcome.err
    assert_left_tidy(laboratory)
    if number is signal.SIGINT:
        assert_continues(laboratory, gate, plugin)


def assert_continues(laboratory: Laboratory, gate: Gate, plugin: Path) -> None:
    gate.open()
    again = laboratory.execute("run", path=[plugin])
    assert again.code == 0, again.text
    assert "slow: 1 of 3 shards already done" in again.err
    assert laboratory.outcomes()["candidates"] == "reused"
    undisturbed = build(laboratory.folder.with_name("undisturbed"))
    undisturbed.run()
    digests = laboratory.digests()
    assert digests.pop("slow") == digests["candidates"]
    assert digests == undisturbed.digests()


@pytest.mark.parametrize("where", ["plan", "join"])
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.long
def test_a_run_is_interrupted_within_a_plan(
    laboratory: Laboratory, plugin: Path, number: signal.Signals, where: str
) -> None:
    """Polars raises KeyboardInterrupt itself, and Python would raise it again."""
    laboratory.insert_slow(seconds=30.0 if where == "plan" else 1.0, where=where)
    process = laboratory.start("run", path=[plugin])
    wait_until(lambda: laboratory.start_count("slow") == 1, laboratory)
    time.sleep(0.2)
    outcome = stop(process, number)
    assert_reported(outcome, number)
    assert RESUME_HINT in outcome.err
    assert_left_tidy(laboratory)


def test_a_run_is_interrupted_while_waiting_for_a_lock(laboratory: Laboratory) -> None:
    laboratory.run()
    with FileLock(laboratory.root / "sample" / ".lock"):
        process = laboratory.start("run", "--set", "stages.sample.rate=0.3")
        wait_until(lambda: laboratory.has_message("sample", "waiting"), laboratory)
        outcome = stop(process)
    assert_reported(outcome)
    assert RESUME_HINT in outcome.err
    assert_left_tidy(laboratory)


_WAITS = "import pathlib, time\npathlib.Path({!r}).touch()\ntime.sleep(300)\n"
"""A module whose import lasts until an interrupt."""
_RENAMES = """
import pathlib, time
try:
    pathlib.Path({!r}).touch()
    time.sleep(300)
except KeyboardInterrupt as error:
    raise ImportError("half of it is missing") from error
"""
"""The same, but it renames the exception, as modules written in C do."""


def catches(process: subprocess.Popen[str], number: signal.Signals) -> bool:
    """Return whether a process has installed a handler of a signal."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    mask = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(mask.split()[1], 16) >> (number - 1) & 1)


@pytest.mark.uncounted("counting starts before the command does")
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="needs /proc")
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("text", [_WAITS, _RENAMES], ids=["waits", "renames"])
@pytest.mark.parametrize("module", ["polars", "pydantic"])
def test_a_command_is_interrupted_during_its_imports(
    laboratory: Laboratory, module: str, text: str, number: signal.Signals
) -> None:
    """The command is stopped immediately, while it is being imported."""
    modules, imported = laboratory.folder / "modules", laboratory.folder / "imported"
    modules.mkdir()
    (modules / f"{module}.py").write_text(text.format(str(imported)))
    process = laboratory.start("run", path=[modules])
    wait_until(imported.exists, laboratory)
    assert catches(process, number)
    outcome = stop(process, number)
    assert (outcome.code, outcome.err) == (128 + number, "lexassay: interrupted\n")


_AT_EXIT = """
import atexit, time
from pipeline.cli import main
def leave():
    print("leaves", flush=True)
    time.sleep(60)
main.main = lambda: atexit.register(leave) and 0
main.script()
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_command_is_interrupted_after_its_run(number: signal.Signals) -> None:
    """The command is stopped after its work, while the interpreter cleans up."""
    process = subprocess.Popen(
        [sys.executable, "-c", _AT_EXIT],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "leaves\n"
    outcome = stop(process, number)
    assert (outcome.code, outcome.err) == (128 + number, "lexassay: interrupted\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_a_second_interrupt_does_not_disturb_the_cleanup(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """A second Ctrl-C does not interrupt the handling of the first one."""
    keep = Digests.keep

    def keep_and_interrupt(self: Digests) -> None:
        signal.raise_signal(number)
        keep(self)

    def interrupt(*_: object) -> None:
        signal.raise_signal(number)

    monkeypatch.setattr(Digests, "keep", keep_and_interrupt)
    monkeypatch.setattr("pipeline.cli.output.RunProgress._start", interrupt)
    outcome = laboratory.call("run")
    assert_reported(outcome, number)
    assert RESUME_HINT in outcome.err
    assert_left_tidy(laboratory)


def test_a_second_interrupt_does_not_disturb_a_notebook(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(event: Event) -> None:
        if event.kind in {"stage_started", "run_done"}:
            signal.raise_signal(signal.SIGINT)

    project = check(laboratory.config, runs=laboratory.runs)
    with pytest.raises(Interruption, match=RESUME_HINT):
        run_stages(project, listeners=[interrupt])
    assert_left_tidy(laboratory)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


_DROPS_INTERRUPT = """
import os, signal, sys, time, weakref
from pipeline.runner.interrupts import interrupt, interrupt_again

class Module:
    pass

def callback(_):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)

signal.signal(signal.SIGINT, interrupt)
sys.unraisablehook = interrupt_again
module = Module()
reference = weakref.ref(module, callback)
try:
    del module
    print("dropped", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_that_python_drops_is_repeated() -> None:
    """Python drops it in callbacks, such as those of modules being imported."""
    process = subprocess.run(
        [sys.executable, "-c", _DROPS_INTERRUPT],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environment(),
    )
    assert process.stdout.split() == ["dropped", "interrupted"]
    assert process.stderr == ""
