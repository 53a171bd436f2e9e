"""Results and input files on an object store: requests, cache, leases, publishing, storage."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import cache
from io import BufferedIOBase, BytesIO
from itertools import takewhile
from os import environ
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import polars as pl
from platformdirs import user_cache_path

from pipeline.errors import StoreError
from pipeline.release import install_text
from pipeline.runner.store.digest import canonical, text_digest
from pipeline.runner.store.interface import MANIFEST, Entry, hidden_key, parquet_options
from pipeline.runner.store.local import LocalStorage

SCHEMES = ("s3", "gs", "az", "memory")
"""What an address begins with; "memory" is a store that ends with its process, for tests."""
TIMEOUT = "LEXASSAY_STORE_TIMEOUT"
"""Environment variable: the seconds that one request may take."""
FOLDER = "LEXASSAY_STORE_CACHE"
"""Environment variable: the folder of the cache and of drafts."""
LIMIT = "LEXASSAY_STORE_CACHE_GB"
"""Environment variable: how large the cache may get, in GB."""
VARIABLE = "LEXASSAY_STORE_LEASE"
"""Environment variable: seconds without a beat after which a holder is dead."""
_ADDRESS = re.compile(rf"({'|'.join(SCHEMES)}):/+([^/]+)/*(.*)")
_SECONDS = 120.0
_RETRIES = 6
_BULK = 1000
"""Objects that one request deletes."""
_CREDENTIALS = (
    "169.254.",
    "/latest/api/token",
    "credential",
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
)
_NO_BUCKET = "the bucket does not exist; create it first"
_GIGABYTES = 50.0
_IDLE = 24 * 3600.0
"""Seconds in which what was used is spared: a run at work may come back to it."""
_TRIES = 5
_MARK = ".staging-"
_ROOM = "drafts"
_LEASE = 20.0
_BEATS = 4
"""Beats in the length of a lease."""
_SKEW = 300.0
"""Seconds by which clocks of two machines may differ."""
_LEASE_TRIES = 8
_AT_ONCE = 8
"""Parts that are sent at once."""
_TABLE = ".parquet"
_LOG = 10.0
"""Seconds between two times that a log is sent."""
_MARKS = "*?["

Fence: TypeAlias = Callable[[], None]
"""Raises StoreError if the right to write was lost."""
Holders: TypeAlias = dict[str, dict[str, Any]]


# Addresses, also where a path has merged two of their slashes into one


class Address(NamedTuple):
    """A place on an object store: what all keys below it begin with."""

    scheme: str
    bucket: str
    prefix: str = ""

    @property
    def home(self) -> str:
        """The address of the bucket."""
        return f"{self.scheme}://{self.bucket}"

    def key(self, name: str) -> str:
        """Return the name of an object as the bucket has it.

        Examples
        --------
        >>> Address("s3", "words", "runs").key("scores/3f2a")
        'runs/scores/3f2a'
        """
        return "/".join(filter(None, [self.prefix, name]))

    def text(self, name: str = "") -> str:
        """Return the address of an object, or of the place itself.

        Examples
        --------
        >>> Address("s3", "words", "runs").text("scores")
        's3://words/runs/scores'
        """
        return "/".join(filter(None, [self.home, self.key(name)]))


def address_of(place: str | Path) -> Address | None:
    """Return the address in a path; None if it is local.

    Parameters
    ----------
    place : str or path
        Paths collapse slashes, so ``s3:/bucket`` means ``s3://bucket``.

    Examples
    --------
    >>> address_of("s3://words/runs/pilot/")
    Address(scheme='s3', bucket='words', prefix='runs/pilot')
    >>> address_of("runs/s3") is None
    True
    """
    match = _ADDRESS.fullmatch(str(place))
    return Address(match[1], match[2], match[3].strip("/")) if match else None


# A bucket: the requests to it, and what their errors mean


class RefusedPut(Exception):
    """A condition of a put failed: another process was faster, or an answer was lost."""


class UnansweredRequest(OSError):
    """The store did not do what it was asked, or its answer was lost."""


class Meta(NamedTuple):
    """Metadata of an object: key, size, and version for conditions."""

    key: str
    size: int
    e_tag: str | None
    version: str | None = None

    def condition(self) -> dict[str, str]:
        """Return the condition that identifies this version."""
        values = {"e_tag": self.e_tag, "version": self.version}
        return {name: value for name, value in values.items() if value is not None}


class Bucket:
    """A bucket; its errors are OSErrors with its address.

    Parameters
    ----------
    home : str
        Its address, for example ``s3://words``.

    Raises
    ------
    StoreError
        If the library for object stores is not installed, or the address cannot be used.
    """

    def __init__(self, home: str) -> None:
        self._home = home
        self._api, self._store = _open_store(home)

    def read(self, key: str) -> tuple[bytes, Meta]:
        """Return an object's bytes and version; FileNotFoundError if it does not exist."""
        with self._translate_errors(key):
            answer = self._api.get(self._store, key)
            return bytes(answer.bytes()), _meta(answer.meta)

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield an object's bytes piece by piece."""
        with self._translate_errors(key):
            for chunk in self._api.get(self._store, key):
                yield bytes(chunk)

    def head(self, key: str) -> Meta | None:
        """Return the metadata of an object; None if it does not exist."""
        try:
            with self._translate_errors(key):
                return _meta(self._api.head(self._store, key))
        except FileNotFoundError:
            return None

    def put(self, key: str, content: bytes | Path, *, over: Meta | None = None) -> None:
        """Put a new object, or replace exactly the named version.

        Raises
        ------
        RefusedPut
            If the object exists, or has another version; possibly from this put, if the answer was
            late.
        """
        mode = over.condition() if over else "create"
        with self._translate_errors(key):
            self._api.put(self._store, key, content, mode=mode)

    def put_over(self, key: str, content: bytes) -> None:
        """Put an object unconditionally: for objects with a single writer."""
        with self._translate_errors(key):
            self._api.put(self._store, key, content)

    def copy(self, key: str, name: str) -> None:
        """Copy an object within the store."""
        with self._translate_errors(key):
            self._api.copy(self._store, key, name)

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects; missing ones are not an error."""
        for start in range(0, len(keys), _BULK):
            some = list(keys[start : start + _BULK])
            try:
                with self._translate_errors(some[0]):
                    self._api.delete(self._store, some)
            except FileNotFoundError:
                for each in some if len(some) > 1 else ():
                    self.delete([each])

    def beneath(self, prefix: str, *, after: str = "") -> Iterator[Meta]:
        """Yield all objects below a key, or those of them whose keys come after one."""
        with self._translate_errors(prefix):
            for batch in self._api.list(self._store, prefix=prefix or None, offset=after or None):
                yield from map(_meta, batch)

    def level(self, prefix: str) -> tuple[list[str], list[Meta]]:
        """Return the prefixes and objects directly below a key.

        One request for each thousand of them, whatever the number of objects below.
        """
        with self._translate_errors(prefix):
            listing = self._api.list_with_delimiter(self._store, prefix=prefix or None)
        return list(listing["common_prefixes"]), [_meta(each) for each in listing["objects"]]

    @contextmanager
    def _translate_errors(self, key: str) -> Iterator[None]:
        """Turn the library's errors into those that the rest of the program knows."""
        kinds, place = self._api.exceptions, f"{self._home}/{key}"
        try:
            yield
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise UnansweredRequest(f"{self._home}: {_NO_BUCKET}") from error
            raise FileNotFoundError(2, "it does not exist", place) from error
        except (kinds.AlreadyExistsError, kinds.PreconditionError) as error:
            raise RefusedPut(place) from error
        except (kinds.PermissionDeniedError, kinds.UnauthenticatedError) as error:
            what = "these credentials lack permission; use others, or ask for permission"
            raise UnansweredRequest(f"{place}: {what}") from error
        except kinds.BaseError as error:
            raise UnansweredRequest(f"{place}: {_explain(str(error))}") from error


def _explain(text: str) -> str:
    if "NoSuchBucket" in text:
        return _NO_BUCKET
    if any(mark in text for mark in _CREDENTIALS):
        return (
            "no valid credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the"
            " variables of your store"
        )
    return f"unexpected answer of the store ({' '.join(text.split())[:200]})"


def _meta(entry: Any) -> Meta:
    return Meta(entry["path"], entry["size"], entry["e_tag"], entry["version"])


@cache
def bucket_at(home: str) -> Bucket:
    """Return the bucket of an address, one in each process."""
    return Bucket(home)


def _open_store(home: str) -> tuple[Any, Any]:
    try:
        import obstore  # noqa: PLC0415  an extra, and slow to import
        import obstore.exceptions  # noqa: PLC0415
        from obstore.store import from_url  # noqa: PLC0415
    except ImportError as error:
        what = "results on an object store need the package obstore"
        raise StoreError(f"{home}: {what}: {install_text('obstore')}") from error
    if home.startswith("memory:"):
        return obstore, from_url("memory:///")
    plain = environ.get("AWS_ALLOW_HTTP", "").lower() == "true"
    waits = timedelta(seconds=float(environ.get(TIMEOUT, _SECONDS)))
    backoff = {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=5)}
    client = {"timeout": waits, "allow_http": plain}
    retries = {"max_retries": _RETRIES, "backoff": backoff, "retry_timeout": 2 * waits}
    try:
        return obstore, from_url(home, client_options=client, retry_config=retries)
    except (obstore.exceptions.BaseError, ValueError) as error:
        raise StoreError(f"{home} cannot be used: {error}") from error


# The cache of objects as files: Polars and the readers of corpora work on files.
# A file is kept under its version on the store, so it is never an older one. When the cache is over
# its limit, files that were not used for a day are removed, the oldest first.


def folder() -> Path:
    """Return the folder for local copies from object stores."""
    value = environ.get(FOLDER)
    return Path(value) if value else user_cache_path("lexassay") / "stores"


def fetch(bucket: Bucket, home: str, key: str) -> Path:
    """Return a file with an object's present bytes.

    Parameters
    ----------
    bucket, home, key : Bucket, str, str
        The bucket, its address, and the object.

    Raises
    ------
    FileNotFoundError
        If the object does not exist.
    """
    meta = bucket.head(key)
    if meta is None:
        raise FileNotFoundError(2, "it does not exist", f"{home}/{key}")
    place = _cache_folder(home, meta)
    path = place / key.rpartition("/")[2]
    if not (path.is_file() and path.stat().st_size == meta.size):
        _make_room(meta.size)
        _download(bucket, meta, path)
    os.utime(place)
    return path


def forget(bucket: Bucket, home: str, key: str) -> None:
    """Remove the copy of an object that was just put: what is read next comes from the store."""
    meta = bucket.head(key)
    if meta is not None:
        shutil.rmtree(_cache_folder(home, meta), ignore_errors=True)


def _cache_folder(home: str, meta: Meta) -> Path:
    mark = text_digest(canonical([home, meta.key, meta.e_tag, meta.version, meta.size]))
    return folder() / "objects" / mark[:2] / mark[2:40]


def _download(bucket: Bucket, meta: Meta, path: Path) -> None:
    """Download to a temporary name first, so that an incomplete file is never used."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{os.getpid()}-{time.monotonic_ns()}")
    try:
        with half.open("wb") as opened:
            for chunk in bucket.chunks(meta.key):
                opened.write(chunk)
        if (size := half.stat().st_size) != meta.size:
            raise OSError(f"{meta.key}: only {size:,} of {meta.size:,} bytes arrived; run again")
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def _make_room(size: int) -> None:
    """Remove the least recently used files, if the cache would be larger than its limit."""
    limit = float(environ.get(LIMIT, _GIGABYTES)) * 1e9
    entries = []
    for each in folder().glob("objects/*/*"):
        files = (file for file in each.iterdir() if not file.name.startswith("."))
        entries.append((each.stat().st_mtime, sum(file.stat().st_size for file in files), each))
    over = sum(freed for _, freed, _ in entries) + size - limit
    for used, freed, each in sorted(entries):
        if over <= 0 or time.time() - used < _IDLE:
            return
        shutil.rmtree(each, ignore_errors=True)
        over -= freed


# Conditional puts: nothing of another process is overwritten.
# To replace an object, the fence is checked after its version was seen: a writer that loses its
# lock later names a version that the next holder has replaced, and is refused.


def put_new(bucket: Bucket, key: str, content: bytes | Path) -> bool:
    """Put a new object; return whether it exists now, by this or an earlier try."""
    for last in range(_TRIES):
        try:
            bucket.put(key, content)
        except RefusedPut:
            return same(bucket, key, content)
        except UnansweredRequest:
            if last == _TRIES - 1:
                raise
        else:
            return True
    raise AssertionError  # pragma: no cover  the loop has returned or raised


def put_fenced(bucket: Bucket, key: str, content: bytes | Path, fence: Fence) -> None:
    """Put an object, replacing another only while the lease is held.

    Parameters
    ----------
    bucket, key : Bucket, str
        Where.
    content : bytes or Path
        The bytes, or a local file with them.
    fence : callable
        Raises if the lease was lost.
    """
    if put_new(bucket, key, content):
        return
    for _ in range(_TRIES):
        version = bucket.head(key)
        fence()
        if replace_object(bucket, key, content, version):
            return
    raise UnansweredRequest(f"{key} keeps changing: another process is writing it")


def replace_object(bucket: Bucket, key: str, content: bytes | Path, version: Meta | None) -> bool:
    """Replace a version of an object; return whether the new one is stored."""
    try:
        bucket.put(key, content, over=version)
    except (RefusedPut, UnansweredRequest):
        return same(bucket, key, content)
    return True


def same(bucket: Bucket, key: str, content: bytes | Path) -> bool:
    """Return whether an object has these bytes: of a put whose answer was lost, it has."""
    mine = content if isinstance(content, bytes) else content.read_bytes()
    meta = bucket.head(key)
    return meta is not None and meta.size == len(mine) and bucket.read(key)[0] == mine


# Drafts: files of this machine, removed with their process, which cost the store no request.
# A part that is on the store already is referred to, not fetched: publishing copies it there.


def is_draft(key: str) -> bool:
    """Return whether a key lies in a draft, or is one.

    Examples
    --------
    >>> is_draft("scores/.staging-3f2a/table/part"), is_draft("scores/.partial-3f2a/shard")
    (True, False)
    """
    return any(part.startswith(_MARK) for part in key.split("/"))


class Drafts:
    """The drafts of one process for one place.

    Parameters
    ----------
    files : LocalStorage
        Where their files lie.
    """

    def __init__(self, files: LocalStorage) -> None:
        self.files = files
        self.references: dict[str, str] = {}
        """Key in a draft to the key on the store that it refers to."""

    def remove(self, prefix: str) -> None:
        """Remove a draft, or a part of it."""
        keys = [key for key in self.references if f"{key}/".startswith(f"{prefix}/")]
        for key in keys:
            del self.references[key]
        self.files.remove(prefix)

    def references_in(self, draft: str) -> dict[str, str]:
        """Return the keys in a draft that refer to others, without the draft's name."""
        return {
            key.removeprefix(f"{draft}/"): source
            for key, source in self.references.items()
            if key.startswith(f"{draft}/")
        }


@cache
def drafts_of(address: Address) -> Drafts:
    """Return this process's drafts for a place; those of processes that ended are removed."""
    room = LocalStorage(folder() / _ROOM)
    for entry in room.list():
        if entry.name.isdecimal() and _is_gone(int(entry.name)):
            room.remove(entry.key)
    return Drafts(LocalStorage(room.root / str(os.getpid()) / text_digest(address.text())[:16]))


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)  # only checks that it exists
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


# Locks: leases that a heartbeat renews, taken over when it stops, and fenced.
# One object lists all holders, each with a token and a beat. A holder is dead if its beat has not
# changed for the length of a lease by the clock of the waiter, or if its last renewal is long past.
# A live process wrongly considered dead only loses work: the fence finds its token missing.


def length() -> float:
    """Return the seconds without a heartbeat after which a holder counts as dead."""
    return float(environ.get(VARIABLE, _LEASE))


class Lease:
    """An exclusive or shared lock.

    Parameters
    ----------
    bucket, key : Bucket, str
        The object with its holders.
    shared : bool
        Other processes may share it.
    seconds : float
        Seconds that it lasts without a heartbeat.
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

    def try_acquire(self) -> bool:
        """Try once to acquire it; return whether it is held now."""
        if not self._update(self._join):
            return False
        self._heart = threading.Thread(target=self._beats, daemon=True)
        self._heart.start()
        return True

    def wait(self, waiting: Callable[[], object]) -> None:
        """Retry until it is held; report once if another process has it."""
        if self.try_acquire():
            return
        waiting()
        while not self.try_acquire():
            time.sleep(min(1.0, self._seconds / 10))

    def renew(self) -> bool:
        """Signal that the holder is alive; False if others have taken over."""
        return self._update(self._renew)

    def release(self) -> None:
        """Release it; it expires if the store does not answer."""
        self._ended.set()
        if self._heart is not None:
            self._heart.join()
        with suppress(OSError):
            self._update(self._leave)

    def _beats(self) -> None:
        alive = True
        while alive and not self._ended.wait(self._seconds / _BEATS):
            with suppress(OSError):  # the next beat may come through
                alive = self.renew()

    def _join(self, holders: Holders) -> Holders | None:
        living = {token: each for token, each in holders.items() if not self._dead(token, each)}
        others = [each for token, each in living.items() if token != self.token]
        free = all(each["shared"] and self._shared for each in others)
        return {**living, self.token: self._sign()} if free else None

    def _renew(self, holders: Holders) -> Holders | None:
        return {**holders, self.token: self._sign()} if self.token in holders else None

    def _leave(self, holders: Holders) -> Holders | None:
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
        expired = time.time() - holder["renewed"] > self._seconds + _SKEW
        return expired or now - since > self._seconds

    def _update(self, change: Callable[[Holders], Holders | None]) -> bool:
        """Change its holders, by a put that fails if another process did so meanwhile.

        Repeating it after a lost answer is harmless: each change sets the final state.
        """
        for last in range(_LEASE_TRIES):
            try:
                holders, version = read(self._bucket, self._key)
                update = change(holders)
                if update is None:
                    return False
                content = json.dumps({"holders": update}).encode()
                self._bucket.put(self._key, content, over=version)
            except RefusedPut:
                time.sleep(secrets.randbelow(50) / 1000)
            except UnansweredRequest:
                if last == _LEASE_TRIES - 1:
                    raise
            else:
                return True
        raise UnansweredRequest(f"{self._key}: too many processes request this lock; run again")


def read(bucket: Bucket, key: str) -> tuple[Holders, Meta | None]:
    """Return the holders of a lock, and the version of its object."""
    try:
        content, version = bucket.read(key)
    except FileNotFoundError:
        return {}, None
    try:
        return dict(json.loads(content)["holders"]), version
    except (ValueError, KeyError, TypeError) as error:
        raise OSError(f"{key} is not a lock; check what it is, and move it") from error


# Publishing without renames: the parts first, the manifest last.
# Readers use only parts that a manifest names with their digests. A former manifest is emptied
# first, so that it never names parts of the new artefact.


def publish(address: Address, drafts: Drafts, draft: str, name: str, fence: Fence) -> str | None:
    """Upload a draft under its final name.

    Parameters
    ----------
    address, drafts : Address, Drafts
        Address in the store, and the local drafts.
    draft, name : str
        Its key, and the final one.
    fence : callable
        Raises if the lock for publishing was lost.

    Returns
    -------
    str or None
        Key where the previous artefact of this name is set aside.
    """
    bucket = bucket_at(address.home)
    root = drafts.files.root / draft
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    referred = drafts.references_in(draft)
    last = files.pop(MANIFEST, None)
    if last is None:
        raise ValueError(f"{draft} has no {MANIFEST}")
    aside = _set_aside(bucket, address, name, fence)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        futures = [
            pool.submit(_send, bucket, address, f"{name}/{key}", path, fence)
            for key, path in files.items()
        ]
        futures += [
            pool.submit(_copy, bucket, address, source, f"{name}/{key}", fence)
            for key, source in referred.items()
        ]
    try:
        for each in futures:
            each.result()
    except OSError:
        fence()  # the process that took over may have removed it
        raise
    fence()
    put_fenced(bucket, address.key(f"{name}/{MANIFEST}"), last.read_bytes(), fence)
    drafts.remove(draft)
    return aside


def _send(bucket: Bucket, address: Address, name: str, path: Path, fence: Fence) -> None:
    put_fenced(bucket, address.key(name), path, fence)
    forget(bucket, address.home, address.key(name))


def _copy(bucket: Bucket, address: Address, source: str, name: str, fence: Fence) -> None:
    """Copy within the store. What a dead run left there is replaced; it is asked first."""
    fence()
    bucket.copy(address.key(source), address.key(name))
    forget(bucket, address.home, address.key(name))


def _set_aside(bucket: Bucket, address: Address, name: str, fence: Fence) -> str | None:
    """Copy an artefact that is to be replaced, and empty its manifest."""
    key = address.key(f"{name}/{MANIFEST}")
    version = bucket.head(key)
    if version is None or not version.size:
        return None
    aside = _free(bucket, address, name)
    start = f"{address.key(name)}/"
    for meta in bucket.beneath(address.key(name)):
        bucket.copy(meta.key, address.key(f"{aside}/{meta.key.removeprefix(start)}"))
    while version is not None and version.size:
        fence()
        if replace_object(bucket, key, b"", version):
            break
        version = bucket.head(key)
    return aside


def _free(bucket: Bucket, address: Address, name: str) -> str:
    number = 1
    while any(bucket.beneath(address.key(aside := f"{hidden_key(name, 'aside')}-{number}"))):
        number += 1
    return aside


# The storage of an object store


@dataclass
class _Process:
    """The locks and logs that this process holds in a storage."""

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
    """The objects below an address; see `Storage` for what each verb promises.

    Parameters
    ----------
    address : Address
        Where.
    remedy : str
        Remedy if nothing can be written.
    locks : tuple of (token, key)
        Locks held by the process that sent it; its workers publish under them.
    seconds : float
        Seconds that a lock lasts without a heartbeat.
    """

    address: Address
    remedy: str = "choose another place with --runs"
    locks: tuple[tuple[str, str], ...] = ()
    seconds: float = field(default_factory=length)

    def __reduce__(self) -> tuple[Any, ...]:
        return CloudStorage, (self.address, self.remedy, self._all_locks(), self.seconds)

    @property
    def _bucket(self) -> Bucket:
        return bucket_at(self.address.home)

    @property
    def _drafts(self) -> Drafts:
        return drafts_of(self.address)

    def _key(self, name: str) -> str:
        return self.address.key(name)

    def write(self, key: str, content: bytes | pl.DataFrame, *, new: bool = False) -> None:
        """Put an object, atomically; a draft is a local file."""
        if is_draft(key):
            self._drafts.files.write(key, content, new=new)
            return
        self._send_logs()
        if isinstance(content, bytes):
            whole = content
        else:
            opened = BytesIO()
            content.write_parquet(opened, **parquet_options(content))
            whole = opened.getvalue()
        if not new:
            self._bucket.put_over(self._key(key), whole)
        elif not put_new(self._bucket, self._key(key), whole):
            raise FileExistsError(17, "a file of this name already exists", self.location(key))

    def publish(self, draft: str, name: str) -> str | None:
        """Send a draft, its manifest last, by a put that never overwrites."""
        return publish(self.address, self._drafts, draft, name, lambda: self._check_locks(name))

    def link(self, key: str, name: str) -> None:
        """Name an object in a draft, or copy it."""
        if is_draft(name) and not is_draft(key):
            self._drafts.references[name] = key
        elif is_draft(name):
            self._drafts.files.link(key, name)
        elif self._bucket.head(self._key(name)):
            raise FileExistsError(17, "a file of this name already exists", self.location(name))
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
        lease = Lease(self._bucket, self._key(key), shared=shared, seconds=self.seconds)
        locks = _process(self.address).locks
        try:
            lease.wait(waiting)
            locks[lease.token] = key
            yield
        finally:
            locks.pop(lease.token, None)
            lease.release()

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[Entry]:
        """Yield the entries directly below a key; only files with `after`.

        Earlier keys are not requested, so the end of a long list costs one request.
        """
        if is_draft(prefix):
            yield from self._drafts.files.list(prefix, after=after)
            return
        home = self._key(prefix)
        depth = home.count("/") + 1
        with self._explain_silence():
            if after:
                later = self._bucket.beneath(home, after=f"{home}/{after}")
                folders: list[str] = []
                objects = [each for each in later if each.key.count("/") == depth]
            else:
                folders, objects = self._bucket.level(home)
        start = len(self._key("")) + 1 if self._key("") else 0
        entries = [Entry(each[start:], None) for each in folders]
        entries += [Entry(each.key[start:], each.size) for each in objects]
        yield from sorted(entries, key=lambda each: each.name)

    def drafts(self, prefix: str) -> Iterator[Entry]:
        """Yield nothing: drafts are local to their process."""
        del prefix
        return iter(())

    def open(self, key: str) -> BufferedIOBase:
        """Open an object; one that holds a table by way of a file of this machine."""
        if is_draft(key := self._source_key(key)):
            return self._drafts.files.open(key)
        with self._explain_silence():
            if key.endswith(_TABLE):
                return fetch(self._bucket, self.address.home, self._key(key)).open("rb")
            return BytesIO(self._bucket.read(self._key(key))[0])

    def location(self, key: str) -> str:
        """Return the address of an object."""
        return self.address.text(key)

    def readable(self, key: str) -> str:
        """Return the path of a file with an object's bytes, fetched if necessary."""
        if is_draft(key := self._source_key(key)):
            return self._drafts.files.location(key)
        with self._explain_silence():
            return str(fetch(self._bucket, self.address.home, self._key(key)))

    def append(self, key: str, line: str) -> None:
        """Add a line to a log, which is sent whole now and then, and before the next write."""
        process = _process(self.address)
        process.logs.setdefault(key, []).append(f"{line}\n")
        last = process.unsent.setdefault(key, 0.0)
        if time.monotonic() - last > _LOG or not last:
            self._send_log(key)

    def remove(self, prefix: str) -> None:
        """Remove an object, or all below a key."""
        if is_draft(prefix):
            self._drafts.remove(prefix)
            return
        self._check_locks(prefix)
        below = [each.key for each in self._bucket.beneath(self._key(prefix))]
        if below or self._bucket.head(self._key(prefix)):
            self._bucket.delete([*below] if below else [self._key(prefix)])

    @contextmanager
    def explain_errors(self, what: str, key: str) -> Iterator[None]:
        """Turn errors of the store, and of the disk with drafts, into messages."""
        with self._drafts.files.explain_errors(what, key), self._explain_silence(f"{what}: "):
            yield

    @contextmanager
    def _explain_silence(self, what: str = "") -> Iterator[None]:
        """Report that a store does not answer, which does not mean that an object is missing."""
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            if error.errno:  # of this machine
                raise
            note = "finished work is kept: run the same command again"
            raise StoreError(f"{what}{error}; {note}, or {self.remedy}") from error

    def _source_key(self, key: str) -> str:
        return self._drafts.references.get(key, key)

    def _all_locks(self) -> tuple[tuple[str, str], ...]:
        return (*self.locks, *_process(self.address).locks.items())

    def _check_locks(self, name: str) -> None:
        """Raise if a lock that covers a name was taken over: the fence."""
        for token, key in self._all_locks():
            above = key.rpartition("/")[0]
            if above and not f"{name}/".startswith(f"{above}/"):
                continue
            if token not in read(self._bucket, self._key(key))[0]:
                what = "did not respond in time, and another process has taken over its lock"
                raise StoreError(
                    f"{self.location(name)}: this run {what} ({key}); nothing was written there;"
                    " finished work is kept: run again"
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


# Input files: found by an address with a pattern, fetched to a machine


@dataclass(frozen=True)
class Remote:
    """An input file on an object store.

    Parameters
    ----------
    home : str
        The address of the bucket.
    key : str
        The object.
    """

    home: str
    key: str

    def local_copy(self) -> Path:
        """Return its local copy, made if necessary.

        Raises
        ------
        OSError
            If it is missing, or the store does not answer.
        """
        return fetch(bucket_at(self.home), self.home, self.key)


def find_objects(address: Address) -> list[Remote]:
    """Return the objects that match an address, in the order of their keys.

    Parameters
    ----------
    address : Address
        Of one object; of a folder, all right in it; or with ``*``, ``?`` and ``[...]`` in any part.

    Raises
    ------
    OSError
        If the store does not answer.
    """
    bucket, prefix = bucket_at(address.home), address.prefix
    keys = sorted(_match(bucket, prefix) if _is_pattern(prefix) else _list(bucket, prefix))
    return [Remote(address.home, key) for key in keys]


def _list(bucket: Bucket, key: str) -> Iterator[str]:
    if key and bucket.head(key):
        yield key
    else:
        yield from (meta.key for meta in bucket.level(key)[1])


def _match(bucket: Bucket, prefix: str) -> Iterator[str]:
    pattern = prefix.split("/")
    start = "/".join(takewhile(lambda part: not _is_pattern(part), pattern))
    flat = start == prefix.rpartition("/")[0]
    for meta in bucket.level(start)[1] if flat else bucket.beneath(start):
        parts = meta.key.split("/")
        if len(parts) == len(pattern) and all(map(fnmatchcase, parts, pattern)):
            yield meta.key


def _is_pattern(text: str) -> bool:
    return any(mark in text for mark in _MARKS)
