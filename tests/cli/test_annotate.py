"""Keys of labels as the command takes them: one sign each, nobody else's."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("starlette")

from pipeline.cli.annotate import _keys
from pipeline.errors import ConfigError
from tests.annotate.served import LABELS, work_in


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nonsense", "'nonsense' is no label"),
        ("free=ff", "'ff' is no key"),
        ("free=1", "1 is the key of 'SVC'"),
        ("free=x,SVC=X", "one key stands for two labels"),
    ],
)
def test_keys_that_cannot_be(tmp_path: Path, given: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        _keys(given, work_in(tmp_path, labels=LABELS))


def test_keys_that_can_be(tmp_path: Path) -> None:
    work = work_in(tmp_path, labels=LABELS)
    assert _keys("free=x, SVC=1,figurative=9", work) == {"free": "x", "SVC": "1", "figurative": "9"}
