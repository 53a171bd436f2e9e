"""The storage of an object store; see `Storage` for what each verb promises."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from io import BufferedIOBase, BytesIO
from typing import Any

import polars as pl

from pipeline.errors import StoreError
from pipeline.runner.store.cloud import cache as cached
from pipeline.runner.store.cloud import lease, publish
from pipeline.runner.store.cloud.address import Address
from pipeline.runner.store.cloud.bucket import Bucket, bucket_at
from pipeline.runner.store.cloud.conditional import put_new
from pipeline.runner.store.cloud.drafts import Drafts, drafts_of, is_draft
from pipeline.runner.store.verbs import Entry
from pipeline.runner.store.written import as_parquet

_TABLE = ".parquet"
_LOG = 10.0
"""Seconds between two times that a log is sent."""


@dataclass
class _Process:
    """What this process holds of a place: its locks, and the logs that it writes."""

    locks: dict[str, str] = field(default_factory=dict)
    """Token of a lease to the key of its lock."""
    logs: dict[str, list[str]] = field(default_factory=dict)
    unsent: dict[str, float] = field(default_factory=dict)
    """Key of a log with lines that were not sent, to when it was sent last."""


@cache
def _process(_address: Address) -> _Process:
    return _Process()


@dataclass(frozen=True)
class CloudStorage:
    """The objects below an address.

    Parameters
    ----------
    address : Address
        Where.
    remedy : str
        What to do where nothing can be written.
    locks : tuple of (token, key)
        What the process holds that sent it here: its workers publish by its right.
    seconds : float
        How long a lock lasts without a sign of its holder.
    """

    address: Address
    remedy: str = "choose another place with --runs"
    locks: tuple[tuple[str, str], ...] = ()
    seconds: float = field(default_factory=lease.length)

    def __reduce__(self) -> tuple[Any, ...]:
        return CloudStorage, (self.address, self.remedy, self._held(), self.seconds)

    @property
    def _bucket(self) -> Bucket:
        return bucket_at(self.address.home)

    @property
    def _drafts(self) -> Drafts:
        return drafts_of(self.address)

    def _key(self, name: str) -> str:
        return self.address.key(name)

    def write(self, key: str, content: bytes | pl.DataFrame, *, new: bool = False) -> None:
        """Put an object, which a store does whole or not at all; a draft is a file here."""
        if is_draft(key):
            self._drafts.files.write(key, content, new=new)
            return
        self._send_logs()
        whole = content if isinstance(content, bytes) else _parquet(content)
        if not new:
            self._bucket.put_over(self._key(key), whole)
        elif not put_new(self._bucket, self._key(key), whole):
            raise FileExistsError(17, "there is a file of that name", self.location(key))

    def publish(self, draft: str, name: str) -> str | None:
        """Send a draft: its manifest last, by a put that overwrites nobody's."""
        return publish.publish(
            self.address, self._drafts, draft, name, lambda: self._still_held(name)
        )

    def link(self, key: str, name: str) -> None:
        """Name an object in a draft, or copy it."""
        if is_draft(name) and not is_draft(key):
            self._drafts.references[name] = key
        elif is_draft(name):
            self._drafts.files.link(key, name)
        elif self._bucket.head(self._key(name)):
            raise FileExistsError(17, "there is a file of that name", self.location(name))
        else:
            self._bucket.copy(self._key(key), self._key(name))

    def move(self, key: str, name: str) -> None:
        """Copy an object and remove the first."""
        self._bucket.copy(self._key(key), self._key(name))
        self._bucket.delete([self._key(key)])

    @contextmanager
    def lock(
        self, key: str, waiting: Callable[[], object], *, shared: bool = False
    ) -> Iterator[None]:
        """Hold a lease, which a heartbeat renews and which expires without one."""
        held = lease.Lease(self._bucket, self._key(key), shared=shared, seconds=self.seconds)
        locks = _process(self.address).locks
        try:
            held.wait(waiting)
            locks[held.token] = key
            yield
        finally:
            locks.pop(held.token, None)
            held.release()

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[Entry]:
        """Yield what lies right below a key, whatever lies below that; files alone with `after`.

        What comes before is not asked for, so that the end of a long list costs one request.
        """
        if is_draft(prefix):
            yield from self._drafts.files.list(prefix, after=after)
            return
        home = self._key(prefix)
        depth = home.count("/") + 1
        with self._answered():
            if after:
                later = self._bucket.beneath(home, after=f"{home}/{after}")
                folders: list[str] = []
                objects = [each for each in later if each.key.count("/") == depth]
            else:
                folders, objects = self._bucket.level(home)
        start = len(self._key("")) + 1 if self._key("") else 0
        found = [Entry(each[start:], None) for each in folders]
        found += [Entry(each.key[start:], each.size) for each in objects]
        yield from sorted(found, key=lambda each: each.name)

    def drafts(self, prefix: str) -> Iterator[Entry]:
        """Yield nothing: drafts lie on the machine of their process, and go with it."""
        del prefix
        return iter(())

    def open(self, key: str) -> BufferedIOBase:
        """Open an object; one that holds a table by way of a file of this machine."""
        if is_draft(key := self._meant(key)):
            return self._drafts.files.open(key)
        with self._answered():
            if key.endswith(_TABLE):
                return cached.fetched(self._bucket, self.address.home, self._key(key)).open("rb")
            return BytesIO(self._bucket.read(self._key(key))[0])

    def location(self, key: str) -> str:
        """Return the address of an object."""
        return self.address.text(key)

    def readable(self, key: str) -> str:
        """Return the path of a file with an object's bytes, fetched if need be."""
        if is_draft(key := self._meant(key)):
            return self._drafts.files.location(key)
        with self._answered():
            return str(cached.fetched(self._bucket, self.address.home, self._key(key)))

    def append(self, key: str, line: str) -> None:
        """Add a line to a log, which is sent whole now and then, and before the next write."""
        process = _process(self.address)
        process.logs.setdefault(key, []).append(f"{line}\n")
        sent = process.unsent.setdefault(key, 0.0)
        if time.monotonic() - sent > _LOG or not sent:
            self._send_log(key)

    def remove(self, prefix: str) -> None:
        """Remove an object, or all below a key."""
        if is_draft(prefix):
            self._drafts.remove(prefix)
            return
        self._still_held(prefix)
        below = [each.key for each in self._bucket.beneath(self._key(prefix))]
        if below or self._bucket.head(self._key(prefix)):
            self._bucket.delete([*below] if below else [self._key(prefix)])

    @contextmanager
    def guarded(self, what: str, key: str) -> Iterator[None]:
        """Turn the errors of a store, and of the disk that drafts lie on, into sentences."""
        with self._drafts.files.guarded(what, key), self._answered(f"{what}: "):
            yield

    @contextmanager
    def _answered(self, what: str = "") -> Iterator[None]:
        """Say that a store does not answer: what it cannot tell is not what is not there."""
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            if error.errno:  # of this machine
                raise
            kept = "nothing that was finished is lost: run the same command again"
            raise StoreError(f"{what}{error}; {kept}, or {self.remedy}") from error

    def _meant(self, key: str) -> str:
        return self._drafts.references.get(key, key)

    def _held(self) -> tuple[tuple[str, str], ...]:
        return (*self.locks, *_process(self.address).locks.items())

    def _still_held(self, name: str) -> None:
        """Raise if a lock that covers a name was taken over: the fence."""
        for token, key in self._held():
            above = key.rpartition("/")[0]
            if above and not f"{name}/".startswith(f"{above}/"):
                continue
            if token not in lease.read(self._bucket, self._key(key))[0]:
                what = "was silent too long, and another process has taken over its lock"
                raise StoreError(
                    f"{self.location(name)}: this run {what} ({key}); nothing was written there;"
                    " run again: what was finished is kept"
                )

    def _send_logs(self) -> None:
        for key in list(_process(self.address).unsent):
            with suppress(OSError):  # a log may lose its last lines
                self._send_log(key)
                del _process(self.address).unsent[key]

    def _send_log(self, key: str) -> None:
        process = _process(self.address)
        process.unsent[key] = time.monotonic()
        self._bucket.put_over(self._key(key), "".join(process.logs[key]).encode())


def _parquet(frame: pl.DataFrame) -> bytes:
    opened = BytesIO()
    frame.write_parquet(opened, **as_parquet(frame))
    return opened.getvalue()
