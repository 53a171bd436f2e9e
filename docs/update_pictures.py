"""Walk pages and take over the pictures that they show, as the reader's own run has drawn them.

python -m docs.update_pictures docs/tutorials/collocations.md

A picture is a file that the page shows from its own folder, and that a step of the page has left in
the reader's folder.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.docs.walk import walk

PICTURE = re.compile(r"!\[[^\]]*\]\(([\w.-]+\.svg)\)")


def pictures(page: Path) -> Iterator[str]:
    """Yield the names of the pictures that a page shows from its own folder."""
    yield from PICTURE.findall(page.read_text(encoding="utf-8"))


def update(page: Path) -> None:
    """Walk a page and copy the pictures that are made on the way."""
    with tempfile.TemporaryDirectory() as scratch:
        reader = Path(scratch) / "reader"
        walk(page, reader, Path(sys.executable).parent)
        for name in pictures(page):
            if (reader / name).exists():
                shutil.copy(reader / name, page.with_name(name))
                print(page.with_name(name))


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        update(Path(argument))
