"""Publishing without renames: the parts first, the manifest last, and none over another's.

Readers go by the manifest, which names the parts with their digests. Until it is there, parts
count for nothing; while another one stands there, it is emptied first, so that at no moment one
vouches for parts of the other.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pipeline.runner.store.cloud.address import Address
from pipeline.runner.store.cloud.bucket import Bucket, bucket_at
from pipeline.runner.store.cloud.cache import forget
from pipeline.runner.store.cloud.conditional import Fence, put_fenced, replaced
from pipeline.runner.store.cloud.drafts import Drafts
from pipeline.runner.store.verbs import MANIFEST, beside

_AT_ONCE = 8
"""Parts that are sent at once."""


def publish(address: Address, drafts: Drafts, draft: str, name: str, fence: Fence) -> str | None:
    """Send a draft to its name.

    Parameters
    ----------
    address, drafts : Address, Drafts
        Where the store has it, and where it lies here.
    draft, name : str
        Its key, and the one that it gets.
    fence : callable
        Raises if the lock that gives the right to publish was lost.

    Returns
    -------
    str or None
        Where a former artefact of the name is set aside.
    """
    bucket = bucket_at(address.home)
    files = _files(drafts.files.root / draft)
    referred = drafts.referred(draft)
    last = files.pop(MANIFEST, None)
    if last is None:
        raise ValueError(f"{draft} has no {MANIFEST}: nothing would vouch for it")
    aside = _set_aside(bucket, address, name, fence)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        sent = [
            pool.submit(_send, bucket, address, f"{name}/{key}", path, fence)
            for key, path in files.items()
        ]
        sent += [
            pool.submit(_copy, bucket, address, source, f"{name}/{key}", fence)
            for key, source in referred.items()
        ]
    try:
        for each in sent:
            each.result()
    except OSError:
        fence()  # what whoever took over has removed is no fault of the store
        raise
    fence()
    put_fenced(bucket, address.key(f"{name}/{MANIFEST}"), last.read_bytes(), fence)
    drafts.remove(draft)
    return aside


def _files(root: Path) -> dict[str, Path]:
    paths = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path for path in paths}


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
    seen = bucket.head(key)
    if seen is None or not seen.size:
        return None
    aside = _free(bucket, address, name)
    start = f"{address.key(name)}/"
    for meta in bucket.beneath(address.key(name)):
        bucket.copy(meta.key, address.key(f"{aside}/{meta.key.removeprefix(start)}"))
    while seen is not None and seen.size:
        fence()
        if replaced(bucket, key, b"", seen):
            break
        seen = bucket.head(key)
    return aside


def _free(bucket: Bucket, address: Address, name: str) -> str:
    number = 1
    while any(bucket.beneath(address.key(aside := f"{beside(name, 'aside')}-{number}"))):
        number += 1
    return aside
