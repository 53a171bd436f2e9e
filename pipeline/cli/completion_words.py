"""Words that the shell completes; docs/update_completion.py makes the file that they stand in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

FILE = files("pipeline.cli") / "completion_words.json"
_WORDS: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))

OPTIONS: Mapping[str, Mapping[str, tuple[bool, str]]] = _WORDS["options"]
"""Of each command its options: whether a value follows, and what it is."""
TABLES: Mapping[str, Sequence[str]] = _WORDS["tables"]
"""The tables of each kind of stage, the main one first."""
MEASURES: Sequence[str] = _WORDS["measures"]
FAMILIES: Sequence[str] = _WORDS["families"]
