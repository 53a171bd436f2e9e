"""Who may do what: everybody has a link with a secret, the same after a restart."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from pipeline.annotate import keys
from pipeline.annotate.work import Work
from pipeline.errors import StoreError
from pipeline.kernels.annotation.names import fold

Role: TypeAlias = Literal["annotator", "coordinator", "adjudicator"]
_BYTES = 24
"""Of a secret: 192 bits."""


@dataclass(frozen=True)
class Person:
    """Somebody who has a link.

    Parameters
    ----------
    role : str
        annotator; adjudicator: a third person who decides where annotators disagree; coordinator.
    name : str
        As the tasks spell it; of the coordinator empty.
    """

    role: Role
    name: str = ""


COORDINATOR = Person("coordinator")


class Links:
    """The links of a work: each holds a secret that nobody can guess.

    A secret is HMAC-SHA256(key, role and name), 24 bytes of it as base64url. The key lies beside
    the decisions, so that two servers on one folder, and a restart, give the same links.

    Parameters
    ----------
    folder : Path
        Where the decisions lie, `Work.folder`. The key is made if it is not there.

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
    >>> _ = links.renew()
    >>> again.find(secret, [ana, ben]) is None  # at once, in every server
    True
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / keys.NAME
        keys.make(self.path)
        self._state = keys.state(self.path)
        self._key = keys.read(self.path)

    def secret(self, person: Person) -> str:
        """Return the secret of a person's link: 32 letters of A-Z, a-z, 0-9, ``-`` and ``_``."""
        self._look_again()
        return self._secret(person)

    def address(self, person: Person) -> str:
        """Return the path of a person's page."""
        start = "c" if person.role == "coordinator" else "a"
        return f"/{start}/{self.secret(person)}"

    def find(self, secret: str, people: Iterable[Person]) -> Person | None:
        """Return whose secret it is; None if it is nobody's.

        Every person is compared, each in constant time: how long it takes tells nothing.
        """
        self._look_again()
        given = secret.encode("utf-8", "replace")
        found = None
        for each in people:
            if hmac.compare_digest(self._secret(each).encode(), given):
                found = each
        return found

    def renew(self) -> Path:
        """Change all links; return where the old key is kept.

        Servers that run take the new links at once, and no longer the old ones.
        """
        kept = keys.renew(self.path)
        self._look_again()
        return kept

    @property
    def warning(self) -> str | None:
        """What is to be said if others can read the key."""
        return keys.warning(self.path)

    def _look_again(self) -> None:
        """Take the key anew if somebody has renewed it; one that is gone holds until the end."""
        with suppress(StoreError):
            state = keys.state(self.path)
            if state != self._state:
                self._key = keys.read(self.path)
                self._state = state

    def _secret(self, person: Person) -> str:
        meant = f"{person.role}\0{fold(person.name)}".encode("utf-8", "surrogatepass")
        digest = hmac.new(self._key, meant, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest[:_BYTES]).decode()


def annotators(work: Work) -> list[Person]:
    """Return those who are asked by the experiment."""
    return [Person("annotator", name) for name in work.annotators]
