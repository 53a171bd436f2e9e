"""Mutate inputs, sheets, experiments, results and commands, and count the outcomes.

python -m tests.mutation --seed SEED --count 1000      continues where it stopped
python -m tests.mutation --seed SEED --case 17         runs one case and keeps its folder
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.mutation.outcomes import BAD, GOOD
from tests.mutation.worker import prepare, run, run_all

_SHOWN = 40
Records = list[dict[str, Any]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the requested cases; return 1 if one of them ended badly."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument(
        "--seed", default="lexassay", help="says, with its number, what each case is"
    )
    parser.add_argument("--count", type=int, default=1000, help="cases, from number 0 on")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--case", type=int, help="run this one alone and keep its folder")
    parser.add_argument(
        "--log", type=Path, default=Path(".mutations"), help="folder of the records"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        folder = Path(name)
        (folder / "cases").mkdir()
        prepare(folder / "bases")
        if options.case is not None:
            return _one(options.seed, options.case, folder)
        return _many(options, folder)


def _one(seed: str, number: int, folder: Path) -> int:
    place = Path(tempfile.mkdtemp(prefix="case-")) / "case"
    record = run(seed, number, folder, keep=place)
    print(json.dumps(record, indent=1))
    print(f"its folder: {place}")
    return int(record["outcome"] in BAD)


def _many(options: argparse.Namespace, folder: Path) -> int:
    options.log.mkdir(exist_ok=True)
    log = options.log / f"{options.seed}.jsonl"
    records = read(log)
    numbers = [
        each for each in range(options.count) if each not in {one["number"] for one in records}
    ]
    start = time.monotonic()
    with log.open("a", encoding="utf-8") as opened:

        def record(each: dict[str, Any]) -> None:
            records.append(each)
            opened.write(json.dumps(each) + "\n")
            opened.flush()

        run_all(options.seed, numbers, folder, record, options.workers)
    selection = [each for each in records if each["number"] < options.count]
    print(f"seed {options.seed}: {len(numbers):,} cases in {time.monotonic() - start:,.0f} s")
    print("\n".join(report(selection)).encode("utf-8", "backslashreplace").decode())
    return int(any(each["outcome"] in BAD for each in selection))


def read(log: Path) -> Records:
    """Return the cases of a log; a truncated last line is ignored."""
    records: Records = []
    for line in log.read_text(encoding="utf-8").splitlines() if log.is_file() else []:
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def report(records: Records) -> list[str]:
    """Return the table of outcomes, and the first cases that ended badly."""
    kinds = sorted({each["kind"] for each in records})
    counts = Counter((each["kind"], each["outcome"]) for each in records)
    names = [name for name in (*GOOD, *BAD) if any(counts[kind, name] for kind in kinds)]
    lines = ["".join(f"{text:>17}" for text in ("", *names, "all", "reached rows"))]
    for kind in [*kinds, "all"]:
        selection = [each for each in records if kind in {each["kind"], "all"}]
        cells = [sum(each["outcome"] == name for each in selection) for name in names]
        share = sum(each["reached"] for each in selection) / max(1, len(selection))
        lines.append(
            "".join(
                f"{text:>17}"
                for text in (kind, *map(str, cells), str(len(selection)), f"{share:.0%}")
            )
        )
    if records:
        peak, slowest = (max(each[name] for each in records) for name in ("peak", "seconds"))
        lines.append(f"most memory of a process: {peak / 1e6:,.0f} MB; longest case: {slowest} s")
    wrong = [each for each in records if each["outcome"] in BAD]
    for each in wrong[:_SHOWN]:
        lines.append(f"{each['number']}: {each['outcome']}: {each['subject']} ({each['mutated']}):")
        lines.append(f"    {each['said'].strip()[:400]}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
