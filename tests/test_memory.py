"""What would take more memory than there is room for is refused, with both figures."""

from __future__ import annotations

import pytest

from pipeline.errors import DataError
from pipeline.memory import goes_to_disk, limited, require, room, shared, shown


def test_the_limit_holds_inside_alone() -> None:
    usual = room()
    with limited(1 << 20):
        require(1 << 20, "as much as there is")
        with pytest.raises(DataError, match=r"(?s)it would take some 1\.5 MB .* up to 1\.0 MB"):
            require(3 << 19, "it")
    assert room() == usual
    require(3 << 19, "it")


@pytest.mark.parametrize("size", [1 << 21, 5 << 28, 9 << 30, 17 << 40])
def test_the_limit_that_is_proposed_is_enough(size: int) -> None:
    with limited(1 << 20), pytest.raises(DataError) as refused:
        require(size, "it")
    number, unit = str(refused.value).split('memory = "')[1].split('"')[0], 1
    for name, factor in (("MB", 1 << 20), ("GB", 1 << 30), ("TB", 1 << 40)):
        if number.endswith(name):
            number, unit = number.removesuffix(name), factor
    assert size <= float(number) * unit <= 2 * size, shown(size)


@pytest.mark.parametrize(("among", "left"), [(0, 600), (1, 600), (3, 200)])
def test_what_is_read_side_by_side_shares_a_limit(among: int, left: int) -> None:
    with limited(600):
        with shared(among):
            assert (room(), goes_to_disk()) == (left, True)
        assert room() == 600


def test_without_a_limit_nothing_is_shared() -> None:
    usual = room()
    with shared(2):
        assert (room(), goes_to_disk()) == (usual, False)
