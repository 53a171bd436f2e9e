"""The text of a packed file that cannot be cut as it is, put where its parts are read from."""

from __future__ import annotations

import shutil
import zlib
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from pipeline.formats.packed import open_packed
from pipeline.runner.store.verbs import Storage

_CHUNK = 1 << 20


def unpacked(storage: Storage, key: str, path: Path, *, size: int | None = None) -> Path | None:
    """Return where the text of a packed file lies; it is put there if it does not yet.

    Parameters
    ----------
    storage, key : Storage, str
        Where it goes: into the folder of a stage, with which it is removed.
    path : Path
        The packed file.
    size : int, optional
        Its bytes, if they are known: what has others is put there anew.

    Returns
    -------
    Path or None
        None if the place is not a folder of this machine, or is full, or the file is damaged,
        which its reader will say.
    """
    if "://" in (place := storage.readable(key)):
        return None
    text = Path(place)
    if text.is_file() and size in {None, text.stat().st_size}:
        return text
    draft = text.with_name(f".staging-{uuid4().hex}")
    with suppress(OSError, EOFError, zlib.error):
        text.parent.mkdir(parents=True, exist_ok=True)
        with open_packed(path) as opened, draft.open("wb") as file:
            shutil.copyfileobj(opened, file, _CHUNK)
        return draft.replace(text)
    draft.unlink(missing_ok=True)
    return None
