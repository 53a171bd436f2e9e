"""The command that serves the annotation pages: the keys of labels, and the people of a work."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cli.annotate import _keys, annotate
from pipeline.errors import ConfigError
from tests.annotate.office import build_office
from tests.annotate.served import LABELS, work_in


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("nonsense", "'nonsense' is not a label"),
        ("free=ff", "'ff' is not a key"),
        ("free=1", "1 is the key of 'SVC'"),
        ("free=x,SVC=X", "two labels have the same key"),
    ],
)
def test_invalid_keys_of_labels_are_refused(tmp_path: Path, option: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        _keys(option, work_in(tmp_path, labels=LABELS))


def test_labels_get_the_keys_of_the_option(tmp_path: Path) -> None:
    work = work_in(tmp_path, labels=LABELS)
    assert _keys("free=x, SVC=1,figurative=9", work) == {"free": "x", "SVC": "1", "figurative": "9"}


def test_the_command_manages_annotators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    office = build_office(tmp_path)

    def output_of(**options: object) -> str:
        capsys.readouterr()
        assert annotate(office.config, runs=office.runs, **options) == 0  # type: ignore[arg-type]
        return capsys.readouterr().out

    new = "New links: on the coordinator's page, and when lexassay annotate starts.\n"
    assert output_of(add="carla, dan") == (
        "carla is an annotator now. Give carla open cards of others.\n"
        f"dan is an annotator now. Give dan open cards of others.\n{new}"
    )
    assert output_of(stop="anna") == (
        "anna can no longer answer, and the link now says so."
        " Open cards: 3; you can give them to others.\n"
    )
    assert output_of(reassign="anna=carla,dan") == (
        "2 open cards of anna are now carla's. 1 open card of anna is now dan's.\n"
    )
    assert output_of(reassign="ben=carla", cards=1).startswith("1 open card of ben is now carla's.")
    assert output_of(resume="anna") == "anna can continue, with the same link.\n"
    assert output_of(revoke="Anna") == (
        f"The old link of anna no longer works. The new one is for anna only.\n{new}"
    )
    for options, message in (
        ({"stop": "anne"}, "'anne' is nobody's name in this work; did you mean anna"),
        ({"reassign": "anna"}, "nobody is named to get the cards; name one or several annotators"),
        ({"reassign": "anna=ben"}, "anna has no open cards; nothing was changed"),
        ({"cards": 3}, "--cards: needs --reassign FROM=TO"),
    ):
        with pytest.raises(ConfigError, match=message):
            output_of(**options)
