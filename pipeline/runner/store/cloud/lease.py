"""Locks of an object store: leases that are renewed, taken over when they are not, and fenced.

One object holds all holders, each with a token and a beat that its heartbeat raises. Who waits
takes a holder for dead whose beat has stood still for the length of a lease by its own clock, or
whose last sign is long past by the clocks of both. Whoever is wrongly taken for dead loses work
and no more: its token is gone, and `conditional` asks for it before anything is replaced.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from os import environ
from typing import Any, TypeAlias

from pipeline.runner.store.cloud.bucket import Bucket, Meta, Refused, Unanswered

VARIABLE = "LEXASSAY_STORE_LEASE"
"""Environment variable: seconds without a beat after which a holder is dead."""
_LEASE = 20.0
_BEATS = 4
"""Beats in the length of a lease."""
_SKEW = 300.0
"""Seconds by which clocks of two machines may differ."""
_TRIES = 8

Holders: TypeAlias = dict[str, dict[str, Any]]


def length() -> float:
    """Return the seconds without a beat after which a holder is dead."""
    return float(environ.get(VARIABLE, _LEASE))


class Lease:
    """A lock, alone or shared; exists from the try for it to its release.

    Parameters
    ----------
    bucket, key : Bucket, str
        The object that says who holds it.
    shared : bool
        Whether others that share it may hold it, too.
    seconds : float
        How long it lasts without a beat.
    """

    def __init__(
        self, bucket: Bucket, key: str, *, shared: bool = False, seconds: float = _LEASE
    ) -> None:
        self.token = secrets.token_hex(8)
        self._bucket, self._key, self._shared, self._seconds = bucket, key, shared, seconds
        self._seen: dict[str, tuple[int, float]] = {}
        self._beat = 0
        self._ended = threading.Event()
        self._heart: threading.Thread | None = None

    def taken(self) -> bool:
        """Try for it once; whether it is held now."""
        if not self._changed(self._joined):
            return False
        self._heart = threading.Thread(target=self._beats, daemon=True)
        self._heart.start()
        return True

    def wait(self, waiting: Callable[[], object]) -> None:
        """Try until it is held; say so once if somebody else has it."""
        if self.taken():
            return
        waiting()
        while not self.taken():
            time.sleep(min(1.0, self._seconds / 10))

    def renew(self) -> bool:
        """Show that the holder lives; False if others have taken it for dead."""
        return self._changed(self._renewed)

    def release(self) -> None:
        """Give it back; where the store does not answer, it expires."""
        self._ended.set()
        if self._heart is not None:
            self._heart.join()
        with suppress(OSError):
            self._changed(self._left)

    def _beats(self) -> None:
        alive = True
        while alive and not self._ended.wait(self._seconds / _BEATS):
            with suppress(OSError):  # the next beat may come through
                alive = self.renew()

    def _joined(self, holders: Holders) -> Holders | None:
        living = {token: each for token, each in holders.items() if not self._dead(token, each)}
        others = [each for token, each in living.items() if token != self.token]
        free = all(each["shared"] and self._shared for each in others)
        return {**living, self.token: self._sign()} if free else None

    def _renewed(self, holders: Holders) -> Holders | None:
        return {**holders, self.token: self._sign()} if self.token in holders else None

    def _left(self, holders: Holders) -> Holders | None:
        rest = {token: each for token, each in holders.items() if token != self.token}
        return rest if self.token in holders else None

    def _sign(self) -> dict[str, Any]:
        self._beat += 1
        return {"shared": self._shared, "beat": self._beat, "renewed": time.time()}

    def _dead(self, token: str, holder: dict[str, Any]) -> bool:
        now = time.monotonic()
        beat, since = self._seen.get(token, (None, now))
        if beat != holder["beat"]:
            since = now
        self._seen[token] = (holder["beat"], since)
        silent = time.time() - holder["renewed"] > self._seconds + _SKEW
        return silent or now - since > self._seconds

    def _changed(self, change: Callable[[Holders], Holders | None]) -> bool:
        """Change who holds it, by a put that fails if another did so meanwhile.

        To do it again after a lost answer does no harm: each change says what is to be.
        """
        for last in range(_TRIES):
            try:
                holders, seen = read(self._bucket, self._key)
                wanted = change(holders)
                if wanted is None:
                    return False
                content = json.dumps({"holders": wanted}).encode()
                self._bucket.put(self._key, content, over=seen)
            except Refused:
                time.sleep(secrets.randbelow(50) / 1000)
            except Unanswered:
                if last == _TRIES - 1:
                    raise
            else:
                return True
        raise Unanswered(f"{self._key}: too many ask for this lock at once; run again")


def read(bucket: Bucket, key: str) -> tuple[Holders, Meta | None]:
    """Return who holds a lock, and the version of the object that says so."""
    try:
        content, seen = bucket.read(key)
    except FileNotFoundError:
        return {}, None
    try:
        return dict(json.loads(content)["holders"]), seen
    except (ValueError, KeyError, TypeError) as error:
        raise OSError(f"{key} is no lock of ours; see what it is, and move it") from error
