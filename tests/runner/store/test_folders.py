"""Folders that are written anew: what people put into them, or changed, is there afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.runner.store import history
from pipeline.runner.store.backends import storage_at
from pipeline.runner.store.history import LAST_GOOD, REPORT, write_folder
from pipeline.runner.store.interface import Storage

OLD = {"index.html": b"old", "tables/a.csv": b"old", "tables/b.csv": b"old"}
NEW = {"index.html": b"new", "tables/a.csv": b"new", "figures/c.svg": b"new"}


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return storage_at(tmp_path)


def content(folder: Path) -> dict[str, str]:
    """Return the text of each file of a folder but those of the program's own use."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_text() for name, path in files.items() if not name.startswith(".")}


def test_a_folder_is_replaced_whole(storage: Storage, tmp_path: Path) -> None:
    assert write_folder(storage, "report", OLD) == []
    assert write_folder(storage, "report", NEW) == []
    assert content(tmp_path / "report") == dict.fromkeys(NEW, "new")
    assert [path.name for path in sorted(tmp_path.iterdir())] == [".report.lock", "report"]


def test_files_of_people_stay(storage: Storage, tmp_path: Path) -> None:
    write_folder(storage, "report", OLD)
    folder = tmp_path / "report"
    (folder / "notes.txt").write_text("mine")
    (folder / "tables" / "own").mkdir()
    (folder / "tables" / "own" / "x.csv").write_text("mine")
    for _ in range(3):
        assert write_folder(storage, "report", NEW) == []
        expected = dict.fromkeys(NEW, "new") | {"notes.txt": "mine", "tables/own/x.csv": "mine"}
        assert content(folder) == expected


def test_what_people_changed_stands_beside_the_new(storage: Storage, tmp_path: Path) -> None:
    write_folder(storage, "report", OLD)
    folder = tmp_path / "report"
    for number, kept in enumerate(["index.kept-1.html", "index.kept-2.html"], start=1):
        (folder / "index.html").write_text(f"edited {number}")
        (folder / "tables" / "b.csv").write_text("edited")
        assert write_folder(storage, "report", NEW | OLD)[0] == kept
        assert content(folder)[kept] == f"edited {number}"
    assert content(folder)["index.html"] == "old"
    assert content(folder)["tables/b.kept-2.csv"] == "edited"


def test_a_file_of_a_person_where_one_of_ours_comes(storage: Storage, tmp_path: Path) -> None:
    write_folder(storage, "report", OLD)
    (tmp_path / "report" / "figures").mkdir()
    (tmp_path / "report" / "figures" / "c.svg").write_text("mine")
    assert write_folder(storage, "report", NEW) == ["figures/c.kept-1.svg"]
    assert content(tmp_path / "report")["figures/c.kept-1.svg"] == "mine"


def test_links_of_people_are_not_followed(storage: Storage, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("mine")
    folder = tmp_path / "report"
    write_folder(storage, "report", OLD)
    (folder / "there").symlink_to(elsewhere)
    (folder / "gone").symlink_to(tmp_path / "nowhere")
    write_folder(storage, "report", NEW)
    assert (folder / "there").readlink() == elsewhere
    assert (folder / "gone").is_symlink()
    assert (elsewhere / "precious").read_text() == "mine"


def test_a_folder_made_before_there_was_a_list(storage: Storage, tmp_path: Path) -> None:
    write_folder(storage, "report", OLD)
    (tmp_path / "report" / ".written.json").unlink()
    (tmp_path / "report" / "notes.txt").write_text("mine")
    write_folder(storage, "report", NEW)
    assert content(tmp_path / "report") == dict.fromkeys(NEW, "new") | {"notes.txt": "mine"}


@pytest.mark.parametrize("damaged", ["", "[]", "{", '{"index.html": 3}'])
def test_a_damaged_list_loses_nothing(damaged: str, storage: Storage, tmp_path: Path) -> None:
    write_folder(storage, "report", OLD)
    (tmp_path / "report" / ".written.json").write_text(damaged)
    (tmp_path / "report" / "notes.txt").write_text("mine")
    write_folder(storage, "report", NEW)
    assert content(tmp_path / "report")["notes.txt"] == "mine"
    assert content(tmp_path / "report")["index.html"] == "new"


def report(storage: Storage, *flaws: str) -> str:
    """Write a report with flaws as a run does; return where the one before is kept."""
    found = frozenset(flaws)
    aside = history.keep(storage, found)
    write_folder(storage, REPORT, {"index.html": ", ".join(flaws).encode(), **history.mark(found)})
    return aside


def test_files_of_people_stay_when_a_report_is_set_aside(storage: Storage, tmp_path: Path) -> None:
    now, before = tmp_path / REPORT, tmp_path / LAST_GOOD
    report(storage)
    (now / "notes.txt").write_text("mine")
    assert report(storage, "a warning") == str(before)
    assert content(now) == {"index.html": "a warning", "notes.txt": "mine"}
    assert content(before) == {"index.html": ""}
    (before / "more.txt").write_text("mine, too")
    (before / "index.html").write_text("edited")
    assert report(storage) == ""
    assert not before.exists()
    assert content(now) == {
        **{"index.html": "", "index.kept-1.html": "edited"},
        **{"notes.txt": "mine", "more.txt": "mine, too"},
    }


def test_files_alone_are_no_report(storage: Storage, tmp_path: Path) -> None:
    (tmp_path / REPORT).mkdir()
    (tmp_path / REPORT / "notes.txt").write_text("mine")
    assert report(storage, "a warning") == ""
    assert content(tmp_path / REPORT) == {"index.html": "a warning", "notes.txt": "mine"}
