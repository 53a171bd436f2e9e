"""A bucket of an object store: the few requests that are made of it, and what their errors mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from os import environ
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import StoreError

TIMEOUT = "LEXASSAY_STORE_TIMEOUT"
"""Environment variable: the seconds that one request may take."""
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


class Refused(Exception):
    """A condition of a put does not hold: somebody else was faster, or an answer was lost."""


class Unanswered(OSError):
    """The store did not do what it was asked, or its answer was lost."""


class Meta(NamedTuple):
    """What a store says of an object: its key, size, and the version that conditions name."""

    key: str
    size: int
    e_tag: str | None
    version: str | None = None

    def condition(self) -> dict[str, str]:
        """Return what names this version and no other."""
        named = {"e_tag": self.e_tag, "version": self.version}
        return {name: value for name, value in named.items() if value is not None}


class Bucket:
    """A bucket; its errors are OSErrors that say which.

    Parameters
    ----------
    home : str
        Its address, such as ``s3://words``.

    Raises
    ------
    StoreError
        If the library for object stores is not installed, or the address cannot be used.
    """

    def __init__(self, home: str) -> None:
        self._home = home
        self._api, self._store = _opened(home)

    def read(self, key: str) -> tuple[bytes, Meta]:
        """Return an object's bytes and its version; FileNotFoundError where there is none."""
        with self._said(key):
            answer = self._api.get(self._store, key)
            return bytes(answer.bytes()), _meta(answer.meta)

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield an object's bytes piece by piece."""
        with self._said(key):
            for chunk in self._api.get(self._store, key):
                yield bytes(chunk)

    def head(self, key: str) -> Meta | None:
        """Return what is known of an object; None if there is none."""
        try:
            with self._said(key):
                return _meta(self._api.head(self._store, key))
        except FileNotFoundError:
            return None

    def put(self, key: str, content: bytes | Path, *, over: Meta | None = None) -> None:
        """Put an object where there is none, or over the very version that is named.

        Raises
        ------
        Refused
            If there is one, or another version. It may be this very put, answered too late.
        """
        mode = over.condition() if over else "create"
        with self._said(key):
            self._api.put(self._store, key, content, mode=mode)

    def put_over(self, key: str, content: bytes) -> None:
        """Put an object whatever is there: for what one process alone writes."""
        with self._said(key):
            self._api.put(self._store, key, content)

    def copy(self, key: str, name: str) -> None:
        """Copy an object within the store."""
        with self._said(key):
            self._api.copy(self._store, key, name)

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects; what is missing is no error."""
        for start in range(0, len(keys), _BULK):
            some = list(keys[start : start + _BULK])
            try:
                with self._said(some[0]):
                    self._api.delete(self._store, some)
            except FileNotFoundError:
                for each in some if len(some) > 1 else ():
                    self.delete([each])

    def beneath(self, prefix: str, *, after: str = "") -> Iterator[Meta]:
        """Yield all objects below a key, or those of them whose keys come after one."""
        with self._said(prefix):
            for batch in self._api.list(self._store, prefix=prefix or None, offset=after or None):
                yield from map(_meta, batch)

    def level(self, prefix: str) -> tuple[list[str], list[Meta]]:
        """Return what lies right below a key: what further keys begin with, and objects.

        One request for each thousand of them, however much lies below.
        """
        with self._said(prefix):
            found = self._api.list_with_delimiter(self._store, prefix=prefix or None)
        return list(found["common_prefixes"]), [_meta(each) for each in found["objects"]]

    @contextmanager
    def _said(self, key: str) -> Iterator[None]:
        """Turn the library's errors into those that the rest of the program knows."""
        kinds, place = self._api.exceptions, f"{self._home}/{key}"
        try:
            yield
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise Unanswered(f"{self._home}: there is no such bucket; make it first") from error
            raise FileNotFoundError(2, "it is not there", place) from error
        except (kinds.AlreadyExistsError, kinds.PreconditionError) as error:
            raise Refused(place) from error
        except (kinds.PermissionDeniedError, kinds.UnauthenticatedError) as error:
            what = "these credentials may not do that there; give others, or ask for the right"
            raise Unanswered(f"{place}: {what}") from error
        except kinds.BaseError as error:
            raise Unanswered(f"{place}: {_reason(str(error))}") from error


def _reason(text: str) -> str:
    if "NoSuchBucket" in text:
        return "there is no such bucket; make it first"
    if any(mark in text for mark in _CREDENTIALS):
        return (
            "no credentials that it takes; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,"
            " or the variables of your store"
        )
    return f"the store does not answer as it should ({' '.join(text.split())[:200]})"


def _meta(found: Any) -> Meta:
    return Meta(found["path"], found["size"], found["e_tag"], found["version"])


@cache
def bucket_at(home: str) -> Bucket:
    """Return the bucket of an address, one in each process."""
    return Bucket(home)


def _opened(home: str) -> tuple[Any, Any]:
    try:
        import obstore  # noqa: PLC0415  an extra, and slow to import
        import obstore.exceptions  # noqa: PLC0415
        from obstore.store import from_url  # noqa: PLC0415
    except ImportError as error:
        what = "results on an object store need the extra cloud"
        raise StoreError(f"{home}: {what}: pip install 'lexassay[cloud]'") from error
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
