"""Write so that a crash, a full disk or a second process can do no harm."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import polars as pl
from filelock import FileLock

from pipeline.errors import StoreError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS}
_FOOTER = 1 << 20
"""Bytes: no Parquet file of ours has a longer footer."""


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: temporary sibling, fsync, rename."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Write a Parquet file and make sure that it is on the disk."""
    try:
        frame.write_parquet(path)
    except pl.exceptions.PolarsError:
        # Polars does not always say that it was the disk: let the disk itself say so.
        _append(path, bytes(_FOOTER))
        raise
    with path.open("rb") as opened:
        os.fsync(opened.fileno())


def _append(path: Path, content: bytes) -> None:
    with path.open("ab") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace a folder that we made by another, whole or not at all, one process at a time.

    Parameters
    ----------
    folder : Path
        Its name.
    files : mapping of str to bytes
        Relative path to content.
    """
    staging, old = (folder.with_name(f".{mark}-{folder.name}") for mark in ("writing", "old"))
    lock = FileLock(folder.with_name(f".{folder.name}.lock"))
    with lock, scratch(staging), scratch(old):
        for name, content in files.items():
            path = staging / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if folder.exists():
            folder.replace(old / folder.name)
        staging.replace(folder)


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """Give an empty folder that is gone afterwards, unless it has got another name."""
    remove(folder)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        remove(folder)


def sync_folder(folder: Path) -> None:
    """Make sure that the entries of a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def publish(staging: Path, final: Path) -> Path | None:
    """Give a complete folder its final name; return where what stood there is set aside."""
    aside = set_aside(final) if final.exists() else None
    staging.replace(final)
    sync_folder(final.parent)
    return aside


def set_aside(folder: Path) -> Path:
    """Rename a folder that cannot be used, so that nothing is overwritten."""
    number = 1
    while (aside := folder.with_name(f".aside-{folder.name}-{number}")).exists():
        number += 1
    folder.replace(aside)
    return aside


def link(existing: Path, new: Path) -> None:
    """Give a file a second name, or copy it where the file system has no links.

    Raises
    ------
    FileExistsError
        If there is a file of that name: nothing is overwritten.
    """
    try:
        os.link(existing, new)
    except OSError as error:
        if error.errno in _FULL | {errno.EEXIST}:
            raise
        shutil.copyfile(existing, new)


def remove(folder: Path) -> None:
    """Remove a folder that belongs to us; a missing one is no error."""
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def guarded(what: str, folder: Path) -> Iterator[None]:
    """Turn the errors of a disk into sentences.

    Raises
    ------
    StoreError
        If the disk is full, the folder read-only, or the like.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(_sentence(error.errno, str(error), what, folder)) from error


def _sentence(code: int | None, text: str, what: str, folder: Path) -> str:
    if code in _FULL:
        return (
            f"{what}: the disk is full or the file too large ({_free(folder)}). Nothing that was"
            " finished is lost: make room and run the same command again."
        )
    if code in _CLOSED:
        return f"{what}: {folder} cannot be written to; choose another folder with --runs DIR."
    return f"{what}: {text}"


def _free(folder: Path) -> str:
    try:
        return f"{shutil.disk_usage(folder).free / 1e6:,.1f} MB free in {folder}"
    except OSError:
        return str(folder)
