"""Keep what benchmarks measure: a line for each figure, compared with the last of its name.

python benchmarks/results.py show
python benchmarks/results.py keep

What is measured on a machine is appended to ``results.local.jsonl``, which is not tracked; the
tracked ``results.jsonl`` has the figures of releases, for reference. `show` lists the newest figure
of each name, `keep` adds those of this machine to the reference.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

HERE = Path(__file__).parent
REFERENCE, LOCAL = HERE / "results.jsonl", HERE / "results.local.jsonl"
Figure: TypeAlias = dict[str, str | float]


def record(name: str, median: float) -> str:
    """Append a figure, and say how it compares with the last of its name on as many cores.

    Parameters
    ----------
    name : str
        What was measured, the script first: "run: start of the command".
    median : float
        Seconds.

    Returns
    -------
    str
        "1.07 x the last", below 1 if it is faster now; empty for the first.
    """
    entry: Figure = {"name": name, "median": round(median, 6), "cores": os.cpu_count() or 1}
    alike = [
        figure
        for figure in (*figures(REFERENCE), *figures(LOCAL))
        if (figure["name"], figure["cores"]) == (entry["name"], entry["cores"])
    ]
    append([entry | _circumstances()], LOCAL)
    return f"{median / float(alike[-1]['median']):.2f} x the last" if alike else ""


def figures(path: Path) -> list[Figure]:
    """Return what a file holds, the oldest first."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def append(entries: Iterable[Figure], path: Path) -> None:
    """Write figures at the end of a file."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(figure) + "\n" for figure in entries)


def newest(path: Path) -> list[Figure]:
    """Return the last figure of each name."""
    return list({str(figure["name"]): figure for figure in figures(path)}.values())


def _circumstances() -> Figure:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    process = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"commit": process.stdout.strip(), "date": now, "python": platform.python_version()}


def main(arguments: Sequence[str]) -> int:
    """Show what was measured here, or keep it as the reference."""
    if arguments == ["keep"]:
        append(newest(LOCAL), REFERENCE)
    elif arguments != ["show"]:
        raise SystemExit(__doc__)
    for figure in newest(LOCAL):
        print(f"{figure['name']:<70}{figure['median']:10.3f} s  {figure['commit']}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
