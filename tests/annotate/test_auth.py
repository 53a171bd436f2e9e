"""Secrets survive a restart, belong to one person, and can be renewed."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline.annotate import auth
from pipeline.annotate.auth import COORDINATOR, Links, Person
from pipeline.errors import StoreError

PEOPLE = [
    Person("annotator", "ana"), Person("annotator", "ben"), Person("adjudicator", "ana"),
    Person("adjudicator", "cleo"), COORDINATOR,
]  # fmt: skip


def test_secrets_differ_between_people_and_survive_a_restart(tmp_path: Path) -> None:
    secrets = [Links(tmp_path).secret(each) for each in PEOPLE]
    assert len(set(secrets)) == len(PEOPLE)
    assert secrets == [Links(tmp_path).secret(each) for each in PEOPLE]
    assert secrets[0] != Links(tmp_path / "other").secret(PEOPLE[0])
    assert all(len(each) * 6 >= 128 and each.replace("-", "").replace("_", "").isalnum()
               for each in secrets)  # fmt: skip


def test_a_secret_identifies_one_person(tmp_path: Path) -> None:
    links = Links(tmp_path)
    assert [links.find(links.secret(each), PEOPLE) for each in PEOPLE] == PEOPLE
    mine = links.secret(PEOPLE[0])
    for wrong in ("", mine[:-1], mine + "A", mine.swapcase(), mine + "=", "é" * 32, "\udce9"):
        assert links.find(wrong, PEOPLE) is None
    assert links.find(mine, PEOPLE[1:]) is None


def test_addresses_begin_with_the_path_of_their_page(tmp_path: Path) -> None:
    links = Links(tmp_path)
    assert [links.address(each)[:3] for each in PEOPLE] == ["/a/"] * 4 + ["/c/"]


def test_names_are_compared_without_case_and_outer_blanks(tmp_path: Path) -> None:
    links = Links(tmp_path)
    assert links.secret(Person("annotator", " ANA")) == links.secret(PEOPLE[0])


def test_a_name_cannot_pass_for_a_role(tmp_path: Path) -> None:
    links = Links(tmp_path)
    tricks = ["\0coordinator", "coordinator\0", "coordinator", "\0"]
    secrets = {links.secret(Person("annotator", name)) for name in tricks}
    assert links.secret(COORDINATOR) not in secrets
    assert len(secrets) == len(tricks)


def test_a_revoked_link_is_recognised_and_other_links_still_work(tmp_path: Path) -> None:
    links = Links(tmp_path)
    ana, ben = PEOPLE[:2]
    again = Person("annotator", "ana", 2)
    secrets = [links.secret(Person("annotator", "ana", n)) for n in range(3)]
    assert len(set(secrets)) == 3
    assert secrets[0] == links.secret(ana)  # of all who were never revoked
    assert links.find(secrets[2], [again, ben]) == again
    for old in secrets[:2]:
        assert links.find(old, [again, ben]) is None
        assert links.was_revoked(old, [again, ben])
    assert not links.was_revoked(secrets[2], [again, ben])
    assert not links.was_revoked("x" * 32, [again, ben])
    assert not links.was_revoked(links.secret(ben), [again, ben])


def test_the_key_is_private_and_is_created_once(tmp_path: Path) -> None:
    links = Links(tmp_path)
    assert stat.S_IMODE(links.path.stat().st_mode) == 0o600
    assert len(links.path.read_bytes()) == 32
    assert links.warning is None
    assert list(tmp_path.iterdir()) == [tmp_path / auth.NAME]
    before = links.path.read_bytes()
    auth.make_key(links.path)
    assert links.path.read_bytes() == before


def test_a_key_that_others_can_read_causes_a_warning(tmp_path: Path) -> None:
    links = Links(tmp_path)
    links.path.chmod(0o640)
    assert "others on this machine can read it" in (links.warning or "")
    assert "chmod 600" in (links.warning or "")


def test_servers_that_start_at_once_share_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        secrets = set(pool.map(lambda _: Links(tmp_path).secret(COORDINATOR), range(64)))
    assert len(secrets) == 1
    assert list(tmp_path.iterdir()) == [tmp_path / auth.NAME]


def test_every_server_uses_renewed_links_and_old_keys_are_kept(tmp_path: Path) -> None:
    links, other = Links(tmp_path), Links(tmp_path)
    keys_before, secrets = [], [links.secret(COORDINATOR)]
    for number in (1, 2):
        keys_before.append(links.path.read_bytes())
        assert links.renew() == tmp_path / f"annotate.key.{number}"
        secrets.append(other.secret(COORDINATOR))
    assert len(set(secrets)) == 3
    assert [other.find(each, [COORDINATOR]) for each in secrets] == [None, None, COORDINATOR]
    old_keys = [tmp_path / f"annotate.key.{number}" for number in (1, 2)]
    assert [path.read_bytes() for path in old_keys] == keys_before
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_damaged_key_is_refused_and_not_changed(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / auth.NAME
    path.write_bytes(content)
    with pytest.raises(StoreError, match=f"is not a key: {len(content)} bytes instead of 32"):
        Links(tmp_path)
    assert path.read_bytes() == content


def test_a_missing_or_unwritable_key_is_an_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StoreError, match=r"annotate\.key: cannot be written"):
        Links(blocked)
    with pytest.raises(StoreError, match="cannot be read: the file or its folder does not exist"):
        auth.read_key(tmp_path / auth.NAME)


def test_a_server_keeps_working_when_its_key_is_removed(tmp_path: Path) -> None:
    links = Links(tmp_path)
    secret, key = links.secret(COORDINATOR), links.path.read_bytes()
    links.path.write_bytes(key[:5])
    assert links.find(secret, PEOPLE) == COORDINATOR
    links.path.unlink()
    assert links.find(secret, PEOPLE) == COORDINATOR
    with pytest.raises(
        StoreError, match="cannot be renewed: the file or its folder does not exist"
    ):
        links.renew()
    auth.make_key(links.path)
    assert links.find(secret, PEOPLE) is None
