"""Print the long suites that a change needs, by the table `areas` beside this file.

python .ci/suites.py [BASE | --all]

Compares the files here with the commit BASE: what landed last. Without it, with the newest commit
of the branch that is older than six hours. Where neither is known, and with --all, every suite is
needed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def areas() -> dict[str, list[str]]:
    """Return the path prefixes with the suites of each."""
    lines = (line.partition("#")[0].split() for line in (HERE / "areas").read_text().splitlines())
    return {words[0]: words[1:] for words in lines if words}


def suites(changed: Iterable[str] | None) -> list[str]:
    """Return the suites that test the changed paths; every suite if these are not known."""
    paths = list(areas() if changed is None else changed)
    needed = {
        suite
        for prefix, names in areas().items()
        if any(path.startswith(prefix) for path in paths)
        for suite in names
    }
    return sorted(each for each in needed if not ("long" in needed and each.startswith("long-")))


def changes(base: str) -> list[str] | None:
    """Return the paths that differ from a commit; None if these cannot be determined."""
    base = base or git("log", "-1", "--first-parent", "--before=6 hours ago", "--format=%H")
    if not base or not git("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}"):
        return None
    differ = git("diff", "--name-only", "--no-renames", "-z", base)
    added = git("ls-files", "--others", "--exclude-standard", "-z")
    return [path for path in f"{differ}\0{added}".split("\0") if path]


def git(*words: str) -> str:
    """Return what git prints; nothing if it fails or is not there."""
    command = ["git", "-c", f"safe.directory={ROOT}", *words]
    try:
        process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return "" if process.returncode else process.stdout.strip()


if __name__ == "__main__":
    argument = "".join(sys.argv[1:])
    print(*suites(None if argument == "--all" else changes(argument)))
