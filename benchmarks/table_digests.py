"""Show that a redesign leaves every result as it was: digests of all tables, before and after.

python benchmarks/table_digests.py record before.json --runs /elsewhere/runs
python benchmarks/table_digests.py compare before.json after.json --changed changed.txt

`record` runs every experiment of ``configs/`` (those on public data where LEXASSAY_DATA names
it) and writes the digest of each table. `compare` prints what differs and ends with 1 unless it
is exactly what the file of `--changed` lists: a line a table, ``experiment/stage.table``, ``*``
for any; ``#`` begins a comment.

The last bits of a logarithm depend on the processor. Digests that are compared across machines,
as ``benchmarks/digests.json`` by ``make digests``, are recorded with ``--rounded``: of tables
whose floats have six significant digits, without those in `OF_A_MACHINE`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import polars as pl
import polars.selectors as cs

ROOT = Path(__file__).resolve().parents[1]
GENERATED = {
    "make_corpus.py": "pp-verb",
    "make_taggings.py": "pos-induction",
    "make_keywords.py": "keywords",
}
OF_A_MACHINE = {"pos-induction/types.scores"}
"""Tables that six digits do not make equal: where the search for a bound stops depends on more."""
_DONE = (0, 3)
"""Exit codes of runs whose tables count: done, and waiting for people."""


@dataclass
class Differences:
    """How two sets of digests differ."""

    unexpected: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    idle: list[str] = field(default_factory=list)
    """Patterns of tables meant to change that fit none that did."""


def compare(
    before: Mapping[str, str], after: Mapping[str, str], changed: Iterable[str] = ()
) -> Differences:
    """Return which tables differ, are new or gone, sorted by whether that is meant.

    Parameters
    ----------
    before, after : mapping of str to str
        ``experiment/stage.table`` to its digest.
    changed : iterable of str
        Patterns of tables that are meant to differ.

    Examples
    --------
    >>> found = compare({"a/x.t": "1", "a/y.t": "1"}, {"a/x.t": "2", "b/y.t": "1"}, ["a/x.*"])
    >>> found.expected, found.unexpected
    (['a/x.t differs'], ['a/y.t is gone', 'b/y.t is new'])
    """
    patterns, differences, used = list(changed), Differences(), set()
    for name in sorted({*before, *after}):
        if before.get(name) == after.get(name):
            continue
        what = "is new" if name not in before else "is gone" if name not in after else "differs"
        fitting = {each for each in patterns if fnmatchcase(name, each)}
        used |= fitting
        (differences.expected if fitting else differences.unexpected).append(f"{name} {what}")
    differences.idle = [each for each in patterns if each not in used]
    return differences


def record(configs: Iterable[Path], runs: Path, *, rounded: bool = False) -> dict[str, str]:
    """Run experiments and return the digest of every table that is made.

    Parameters
    ----------
    configs : iterable of Path
        Experiments; those that lack public data are skipped, saying so.
    runs : Path
        Where results go.
    rounded : bool
        Whether to digest tables whose floats are rounded.

    Raises
    ------
    SystemExit
        If one fails for another reason than absent public data.
    """
    digests: dict[str, str] = {}
    for config in configs:
        if "data:" in config.read_text(encoding="utf-8") and not os.environ.get("LEXASSAY_DATA"):
            print(f"{config.stem}: skipped, LEXASSAY_DATA names no public data", file=sys.stderr)
            continue
        command = [sys.executable, "-m", "pipeline.cli", "run", str(config), "--no-report"]
        process = subprocess.run(
            [*command, "--runs", str(runs)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if process.returncode not in _DONE:
            raise SystemExit(f"{config}: exit code {process.returncode}\n{process.stderr}")
        tables = tables_of(runs / config.stem, rounded=rounded)
        print(f"{config.stem}: {len(tables)} tables", file=sys.stderr)
        digests |= tables
    return digests


def tables_of(folder: Path, *, rounded: bool = False) -> dict[str, str]:
    """Return the digest of every table of the last run of an experiment."""
    newest = max((folder / "history").glob("*.json"), key=lambda path: path.name)
    manifest = json.loads(newest.read_bytes())
    tables = {}
    for stage, each in manifest["stages"].items():
        for table, digest in each["digests"].items():
            name = f"{manifest['experiment']}/{stage}.{table}"
            if not rounded:
                tables[name] = digest
            elif name not in OF_A_MACHINE:
                tables[name] = rounded_digest(folder / stage / each["fingerprint"][:24] / table)
    return tables


def rounded_digest(folder: Path) -> str:
    """Return the digest of a table, in any order of rows, with six digits of each float."""
    table = pl.read_parquet(folder / "*.parquet")
    same = table.with_columns(cs.float().replace(-0.0, 0.0)).select(sorted(table.columns))
    lines = same.write_csv(float_scientific=True, float_precision=5).splitlines()
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def patterns_in(path: Path | None) -> list[str]:
    """Return the patterns of a file, without comments and blank lines."""
    text = path.read_text(encoding="utf-8") if path else ""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("output", type=Path)
    recording.add_argument("configs", type=Path, nargs="*")
    recording.add_argument("--runs", type=Path, required=True)
    recording.add_argument("--rounded", action="store_true")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--changed", type=Path)
    options = parser.parse_args(arguments)
    return _record(options) if options.command == "record" else _compare(options)


def _record(options: argparse.Namespace) -> int:
    for program, folder in GENERATED.items():
        command = [sys.executable, str(ROOT / "data" / program), str(ROOT / "data" / folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    configs = options.configs or sorted((ROOT / "configs").glob("*.toml"))
    paths = [each.resolve() for each in configs]
    digests = record(paths, options.runs.resolve(), rounded=options.rounded)
    options.output.write_text(
        json.dumps(digests, indent=0, sort_keys=True) + "\n", encoding="utf-8"
    )
    return 0


def _compare(options: argparse.Namespace) -> int:
    before, after = (json.loads(path.read_bytes()) for path in (options.before, options.after))
    differences = compare(before, after, patterns_in(options.changed))
    for line in differences.unexpected:
        print(f"NOT MEANT  {line}")
    for line in differences.expected:
        print(f"meant      {line}")
    for pattern in differences.idle:
        print(f"IDLE       {pattern} is listed, and no such table differs")
    same = sum(after.get(name) == digest for name, digest in before.items())
    print(f"{same} of {len(before)} tables are equal")
    return 1 if differences.unexpected or differences.idle else 0


if __name__ == "__main__":
    raise SystemExit(main())
