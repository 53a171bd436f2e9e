"""A comment that is the heading of a section stands above the code of that section."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise

from tests.test_layers import ROOT

FILES = sorted(path for top in ("pipeline", "schemas") for path in ROOT.glob(f"{top}/**/*.py"))


def orphans(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments between blank lines that another such comment or the end follows."""
    texts = groupby(enumerate(source.split("\n"), 1), key=lambda each: bool(each[1].strip()))
    parts = [list(lines) for written, lines in texts if written]
    headings = [all(line.startswith("#") for _, line in part) for part in parts]
    for part, (heading, end) in zip(parts, pairwise([*headings, True]), strict=True):
        if heading and end:
            yield part[0]


def test_a_heading_has_a_section() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in FILES
        for line, text in orphans(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)


def test_headings_without_a_section_are_found() -> None:
    source = "# A.\n\n\n# B,\n# of two lines.\n\n# Of c.\nc = 1\n# No heading.\nd = 2\n\n# E.\n"
    assert list(orphans(source)) == [(1, "# A."), (12, "# E.")]
