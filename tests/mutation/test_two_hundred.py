"""Two hundred mutated cases of a seed that stays; `make torture` runs as many as are asked for.

`make long` runs all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.outcomes import BAD
from tests.mutation.worker import prepare, run

_SEED = "two hundred"
_AT_ONCE = 25


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with every subject as it is before anything is mutated."""
    whole = tmp_path_factory.mktemp("mutation")
    (whole / "cases").mkdir()
    prepare(whole / "bases")
    return whole


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 200, _AT_ONCE))
def test_nothing_ends_as_it_must_not(folder: Path, first: int) -> None:
    records = [run(_SEED, number, folder) for number in range(first, first + _AT_ONCE)]
    assert [each for each in records if each["outcome"] in BAD] == []
