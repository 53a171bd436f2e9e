"""Secret links for annotators and coordinators, and the key that they derive from."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Literal, TypeAlias

from pipeline import errors
from pipeline.errors import StoreError
from pipeline.formats.annotation_log import create_private
from pipeline.kernels.annotation.sheets import fold

# The key: a small file beside the decisions, made once

NAME = "annotate.key"
"""Name of the file in the folder of the sheets."""
_SIZE = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_key(path: Path) -> None:
    """Create a key of 32 random bytes that only its owner can read, unless one exists.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    if path.exists():
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = _write_new(path)
        with suppress(FileExistsError):  # another server was quicker, and its key counts
            os.link(fresh, path)  # whole or not there, and never over a file
        fresh.unlink()
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {errors.machine(error)}") from error


def read_key(path: Path) -> bytes:
    """Return the key.

    Raises
    ------
    StoreError
        If it cannot be read, or is not of 32 bytes.
    """
    try:
        key = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {errors.machine(error)}") from error
    if len(key) != _SIZE:
        what = f"is not a key: {len(key)} bytes instead of {_SIZE}"
        remedy = "Restore a copy of it, or move it elsewhere, which changes all links."
        raise StoreError(f"{path}: {what}\n{remedy}")
    return key


def renew_key(path: Path) -> Path:
    """Put a new key in the place of the old one, and return where the old one lies now.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    try:
        backup = _back_up(path)
        _write_new(path).replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be renewed: {errors.machine(error)}") from error
    return backup


def key_warning(path: Path) -> str | None:
    """Return a warning if others than the owner can read the key, else None."""
    if not _others_read(path):
        return None
    what = "others on this machine can read it and derive every link"
    return f"{path}: {what}\nRestrict it with chmod 600 {path}, then renew the links."


def log_warning(path: Path) -> str | None:
    """Return a warning if others than the owner can read an annotation log, else None.

    Its rights stay as they are: they may be meant.
    """
    if not _others_read(path):
        return None
    return (
        f"{path}: others on this machine can read it\nRestrict it with chmod 600 {path}*, unless"
        " they are meant to."
    )


def _others_read(path: Path) -> bool:
    return os.name == "posix" and bool(path.stat().st_mode & _OTHERS)


def key_state(path: Path) -> tuple[int, int]:
    """Return what changes when the key is replaced."""
    try:
        status = path.stat()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {errors.machine(error)}") from error
    return status.st_ino, status.st_mtime_ns


def _write_new(path: Path) -> Path:
    """Return a new file beside it with a new key, on the disk."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with create_private(fresh) as file:
        file.write(secrets.token_bytes(_SIZE))
        file.flush()
        os.fsync(file.fileno())
    return fresh


def _back_up(path: Path) -> Path:
    """Return a second name of the key, the first that is free."""
    for number in count(1):
        backup = path.with_name(f"{path.name}.{number}")
        with suppress(FileExistsError):
            os.link(path, backup)
            return backup
    raise AssertionError  # pragma: no cover, numbers do not end


Role: TypeAlias = Literal["annotator", "coordinator", "adjudicator"]
_BYTES = 24
"""Of a secret: 192 bits."""


@dataclass(frozen=True)
class Person:
    """The owner of a link.

    Parameters
    ----------
    role : str
        annotator; adjudicator: a third person who resolves disagreements; coordinator.
    name : str
        Name, spelt as in the tasks; empty for the coordinator.
    generation : int
        Number of times that the link was revoked.
    """

    role: Role
    name: str = ""
    generation: int = 0


COORDINATOR = Person("coordinator")


class Links:
    """The links of a work, each with a secret.

    A secret is HMAC-SHA256(key, role, generation and name), 24 bytes of it as base64url. The
    key lies beside the decisions, so that two servers on one folder, and a restart, give the same
    links.

    Parameters
    ----------
    folder : Path
        The folder of the annotation log, `SheetWork.folder`. The key is created if it does not
        exist.

    Raises
    ------
    StoreError
        If the key can be neither read nor made.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> links, again = Links(Path(folder.name)), Links(Path(folder.name))
    >>> ana, ben = Person("annotator", "Ana"), Person("annotator", "ben")
    >>> secret = links.secret(ana)
    >>> len(secret), again.secret(ben) == secret
    (32, False)
    >>> again.secret(Person("annotator", "ana ")) == secret
    True
    >>> again.find(secret, [ana, ben]).name, again.find("a" * 32, [ana, ben])
    ('Ana', None)
    >>> again.find(secret, [Person("annotator", "Ana", 1)]) is None  # revoked once
    True
    >>> _ = links.renew()
    >>> again.find(secret, [ana, ben]) is None  # at once, in every server
    True
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        make_key(self.path)
        self._state = key_state(self.path)
        self._key = read_key(self.path)

    def secret(self, person: Person) -> str:
        """Return the secret of a person's link: 32 letters of A-Z, a-z, 0-9, ``-`` and ``_``."""
        self._look_again()
        return self._secret(person)

    def address(self, person: Person) -> str:
        """Return the path of a person's page."""
        start = "c" if person.role == "coordinator" else "a"
        return f"/{start}/{self.secret(person)}"

    def find(self, secret: str, people: Iterable[Person]) -> Person | None:
        """Return the owner of a secret; None if it is invalid.

        All secrets are compared in constant time, against timing attacks.
        """
        self._look_again()
        data = secret.encode("utf-8", "replace")
        owner = None
        for each in people:
            if hmac.compare_digest(self._secret(each).encode(), data):
                owner = each
        return owner

    def was_revoked(self, secret: str, people: Iterable[Person]) -> bool:
        """Return whether it is a former secret of one of the people."""
        former = (replace(who, generation=n) for who in people for n in range(who.generation))
        return self.find(secret, former) is not None

    def renew(self) -> Path:
        """Change all links; return where the old key is kept.

        Servers that run take the new links at once, and no longer the old ones.
        """
        backup = renew_key(self.path)
        self._look_again()
        return backup

    @property
    def warning(self) -> str | None:
        """The warning if others can read the key."""
        return key_warning(self.path)

    def _look_again(self) -> None:
        """Reload the key if it was renewed; a deleted one stays valid until the server stops."""
        with suppress(StoreError):
            state = key_state(self.path)
            if state != self._state:
                self._key = read_key(self.path)
                self._state = state

    def _secret(self, person: Person) -> str:
        # No role has a blank, so that no name can pass for a generation.
        role = f"{person.role} {person.generation}" if person.generation else person.role
        message = f"{role}\0{fold(person.name)}".encode("utf-8", "surrogatepass")
        digest = hmac.new(self._key, message, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest[:_BYTES]).decode()
