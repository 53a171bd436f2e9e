"""Objects as files of this machine: Polars and the readers of corpora work on files.

A file is kept under the version that the store says it has, so it can never be an older one. The
cache is bounded: when it is over its limit, what was not used for a day goes, the oldest first.
"""

from __future__ import annotations

import os
import shutil
import time
from os import environ
from pathlib import Path

from platformdirs import user_cache_path

from pipeline.runner.store.cloud.bucket import Bucket, Meta
from pipeline.runner.store.digest import canonical, text_digest

FOLDER = "LEXASSAY_STORE_CACHE"
"""Environment variable: the folder of the cache and of drafts."""
LIMIT = "LEXASSAY_STORE_CACHE_GB"
"""Environment variable: how large the cache may get, in GB."""
_GIGABYTES = 50.0
_IDLE = 24 * 3600.0
"""Seconds in which what was used is spared: a run at work may come back to it."""


def folder() -> Path:
    """Return the folder of all that is kept of object stores on this machine."""
    named = environ.get(FOLDER)
    return Path(named) if named else user_cache_path("lexassay") / "stores"


def fetched(bucket: Bucket, home: str, key: str) -> Path:
    """Return a file with an object's bytes, as the store has it now.

    Parameters
    ----------
    bucket, home, key : Bucket, str, str
        The bucket, its address, and the object.

    Raises
    ------
    FileNotFoundError
        If there is no such object.
    """
    meta = bucket.head(key)
    if meta is None:
        raise FileNotFoundError(2, "it is not there", f"{home}/{key}")
    place = _place(home, meta)
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
        shutil.rmtree(_place(home, meta), ignore_errors=True)


def _place(home: str, meta: Meta) -> Path:
    mark = text_digest(canonical([home, meta.key, meta.e_tag, meta.version, meta.size]))
    return folder() / "objects" / mark[:2] / mark[2:40]


def _download(bucket: Bucket, meta: Meta, path: Path) -> None:
    """Fill a file beside its name first, so that a half of it is never taken for the whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{os.getpid()}-{time.monotonic_ns()}")
    try:
        with half.open("wb") as opened:
            for chunk in bucket.chunks(meta.key):
                opened.write(chunk)
        if (size := half.stat().st_size) != meta.size:
            raise OSError(f"{meta.key}: {size:,} of {meta.size:,} bytes came; run again")
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def _make_room(size: int) -> None:
    """Remove what was used longest ago, if the cache would be larger than it may be."""
    limit = float(environ.get(LIMIT, _GIGABYTES)) * 1e9
    kept = [(each.stat().st_mtime, _size(each), each) for each in folder().glob("objects/*/*")]
    over = sum(each for _, each, _ in kept) + size - limit
    for used, freed, each in sorted(kept):
        if over <= 0 or time.time() - used < _IDLE:
            return
        shutil.rmtree(each, ignore_errors=True)
        over -= freed


def _size(place: Path) -> int:
    return sum(each.stat().st_size for each in place.iterdir() if not each.name.startswith("."))
