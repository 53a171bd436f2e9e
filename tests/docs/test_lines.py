"""No line of the documentation is lost on the site."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("data/*.md")]
FENCED = re.compile(r"^(`{3,}).*?^\1 *$", re.M | re.S)


def test_no_line_begins_like_a_comment() -> None:
    """MyST takes a line that begins with a per cent sign for a comment, and leaves it out."""
    lost = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in sorted(TEXTS)
        for line in FENCED.sub("", path.read_text(encoding="utf-8")).splitlines()
        if line.lstrip().startswith("%")
    ]
    assert lost == []
