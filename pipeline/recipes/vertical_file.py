"""What the beginning of a vertical file says of its columns and structures."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

from pipeline.formats.delimited import open_text
from pipeline.formats.reading import reading

_LINES = 20_000
_TAG = re.compile(r"<([A-Za-z][\w.-]*)[\s>/]")
_DOCUMENTS = ("text", "doc", "document", "file")


def vertical_options(path: Path) -> dict[str, Any]:
    """Return the options of the reader that the beginning of a file asks for.

    The first column is called word, the others attribute_2, attribute_3 ...; structures that do
    not occur are none.

    Parameters
    ----------
    path : Path
        The file.
    """
    tags: set[str] = set()
    fields = 1
    with reading(path), open_text(path) as text:
        for line in itertools.islice(text, _LINES):
            if tag := _TAG.match(line):
                tags.add(tag[1])
            elif line.strip() and not line.startswith("<"):
                fields = max(fields, line.count("\t") + 1)
    names = ["word", *(f"attribute_{number}" for number in range(2, fields + 1))]
    document = next((name for name in _DOCUMENTS if name in tags), "")
    places = {"sentence": "s", "paragraph": "p"}
    structures = {option: name if name in tags else "" for option, name in places.items()}
    return {"attributes": names, **structures, "document": document}
