"""The file of an experiment, where it cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import ConfigError
from pipeline.runner.config.experiment import read_toml


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "file: cannot be read: it is a folder, and no file"),
        (
            "x.toml/y.toml",
            "file: cannot be read: what should be a folder on the way to it is a file",
        ),
        ("y.toml", "file: does not exist; this folder has x.toml"),
        ("no/y.toml", "file: does not exist; check the path"),
        ("x.toml", r"file: not TOML: .*line 1"),
    ],
)
def test_what_is_no_experiment(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "x.toml").write_text("name = \n")
    with pytest.raises(ConfigError, match=said):
        read_toml(tmp_path / name)
