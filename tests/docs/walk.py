"""Run a page block by block, and compare the output with the output on the page.

    python -m tests.docs.walk docs/tutorials/collocations.md    # with the installed packages
    python -m tests.docs.walk --fresh docs/tutorials/*.md       # in a new environment

A page is run in an empty folder with the files of a checkout in `data` and `configs`:

* ```` ```sh ```` is run by bash and must succeed; `sh 3` must end with code 3;
* ```` ```python ```` is run in one session per page; what it prints counts as output;
* ```` ```text ```` is the output of the block before; a line `...` stands for any lines, `…` within
  a line for any text;
* ```` ```{code-block} toml ```` with `:caption: NAME` is saved as NAME, or appended to it with
  `:caption: at the end of NAME`;
* `<!-- before: COMMAND -->` is also run, but not visible; a page with `<!-- needs: data -->` is
  skipped if there are no public data.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence) *$", re.M | re.S)
COMMENT = re.compile(r"^<!-- before: (?P<before>.*?) -->$", re.M | re.S)
CAPTION = re.compile(r"\A:caption: (?P<caption>[^\n]+)\n+")
AT_THE_END = "at the end of "
SESSION = """
import contextlib, io, json, sys
names = {"__name__": "__main__"}
for line in sys.stdin:
    code, printed, failed = json.loads(line), io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(code, "<page>", "exec"), names)
        except Exception as error:
            failed = f"{type(error).__name__}: {error}"
    print(json.dumps([printed.getvalue(), failed]), flush=True)
"""


class PageError(Exception):
    """A page is wrong: page, line, expected and actual output."""


@dataclass(frozen=True)
class Step:
    """A block of a page: "sh", "python", "text", "file" or "before"."""

    kind: str
    line: int
    text: str
    argument: str = ""


def steps(page: str) -> list[Step]:
    r"""Return the blocks of a page that are run or compared, in order.

    >>> [step.kind for step in steps("```sh\nls\n```\n\n```text\na\n```\n")]
    ['sh', 'text']
    """
    blocks = [*_blocks(page), *_comments(page)]
    return sorted(blocks, key=lambda step: step.line)


def _blocks(page: str) -> Iterator[Step]:
    for block in FENCE.finditer(page):
        line, words = page.count("\n", 0, block.start()) + 1, block["info"].split()
        caption = CAPTION.match(block["body"])
        if words[:1] == ["{code-block}"] and caption:
            text = block["body"][caption.end() :]
            yield Step("file", line, text, caption["caption"].strip(" `"))
        elif words[:1] in (["sh"], ["python"], ["text"]):
            yield Step(words[0], line, block["body"], " ".join(words[1:]))


def _comments(page: str) -> Iterator[Step]:
    for comment in COMMENT.finditer(page):
        line = page.count("\n", 0, comment.start()) + 1
        yield Step("before", line, comment["before"])


def agrees(text: str, printed: str) -> bool:
    r"""Return whether the text of a page, which may be abbreviated, agrees with the output.

    >>> agrees("a\n...\nz 1.… s\n", "a\nb\nc\nz 1.25 s\n")
    True
    """
    lines = [re.escape(line.rstrip()).replace("…", ".*") for line in text.strip("\n").split("\n")]
    pattern = "".join(
        r"(?:[^\n]*\n)*" if line == re.escape("...") else line + r" *\n" for line in lines
    )
    return re.fullmatch(pattern, printed.strip("\n") + "\n") is not None


class Walk:
    """Runs one page in a folder, with the programs of one environment.

    Parameters
    ----------
    folder : Path
        The working folder; created if necessary.
    programs : Path
        The folder with `python` and `lexassay`.
    """

    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder, self._printed = folder, ""
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        self._environment = {**os.environ, "PATH": path, "COLUMNS": "100", "TERM": "dumb"}
        self._environment |= {"HOME": str(folder / ".home")}
        self._environment.pop("XDG_CACHE_HOME", None)
        self._environment.pop("LEXASSAY_LIBRARIES", None)  # set by tests that need many buckets
        self._python: subprocess.Popen[str] | None = None
        for name in ("data", "configs"):
            shutil.copytree(ROOT / name, folder / name, ignore=_untracked_files)
        (folder / ".home").mkdir()

    def take(self, step: Step) -> None:
        """Run a step, or raise PageError."""
        {
            "sh": self._shell,
            "before": self._shell,
            "python": self._session,
            "text": self._compare,
            "file": self._save,
        }[step.kind](step)

    def _shell(self, step: Step) -> None:
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", step.text],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != int(step.argument or 0):
            raise PageError(
                f"ended with {result.returncode}:\n{step.text}{result.stdout}{result.stderr}"
            )
        self._printed = result.stdout or result.stderr

    def _session(self, step: Step) -> None:
        if self._python is None:
            self._python = subprocess.Popen(
                ["python", "-c", SESSION],
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._python.stdin is not None
        assert self._python.stdout is not None
        print(json.dumps(step.text), file=self._python.stdin, flush=True)
        self._printed, failed = json.loads(self._python.stdout.readline())
        if failed:
            raise PageError(f"{step.text}{failed}")

    def _compare(self, step: Step) -> None:
        if not agrees(step.text, self._printed):
            raise PageError(f"shown:\n{step.text}\nprinted:\n{self._printed}")

    def _save(self, step: Step) -> None:
        name = step.argument.removeprefix(AT_THE_END).strip("`")
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if step.argument.startswith(AT_THE_END) else "w") as file:
            file.write(step.text)

    def close(self) -> None:
        """End the session of Python, if there is one."""
        if self._python is not None:
            self._python.communicate()


def _untracked_files(folder: str, names: list[str]) -> set[str]:
    """Return the files that are not in the repository: outputs of generators and runs."""
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "."],
        cwd=folder, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    return set(names) - {line.partition("/")[0] for line in tracked}


def walk(page: Path, folder: Path, programs: Path) -> int:
    """Run a page in a folder and return its number of steps.

    Raises
    ------
    PageError
        At the first step that fails or prints something else, with the page and its line.
    """
    text = page.read_text(encoding="utf-8")
    parts, walker = steps(text), Walk(folder, programs)
    try:
        for step in parts:
            try:
                walker.take(step)
            except PageError as error:
                raise PageError(f"{page}:{step.line}: {error}") from None
    finally:
        walker.close()
    return len(parts)


def needs_data(page: Path) -> bool:
    """Return whether a page needs public data."""
    return "<!-- needs: data -->" in page.read_text(encoding="utf-8")


def fresh(folder: Path) -> Path:
    """Install the checkout into a new environment and return its folder of programs."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet"]
    pip += ["--disable-pip-version-check", "--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, str(ROOT)], check=True)
    return programs


def main(arguments: Sequence[str] | None = None) -> int:
    """Run pages and print their numbers of steps; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description="Walk pages of the documentation.")
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--fresh", action="store_true", help="in a new environment")
    options = parser.parse_args(arguments)
    code = 0
    with tempfile.TemporaryDirectory() as scratch:
        programs = fresh(Path(scratch) / "env") if options.fresh else Path(sys.executable).parent
        for number, page in enumerate(options.pages):
            if needs_data(page) and not os.environ.get("LEXASSAY_DATA"):
                print(f"{page}: skipped, there are no public data")
                continue
            try:
                count = walk(page, Path(scratch) / str(number), programs)
                print(f"{page}: {count} steps")
            except PageError as error:
                code = 1
                print(error, file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
