"""Records that vouch for themselves: JSON with a digest of all else in it."""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import BaseModel

from pipeline.runner.store.digest import canonical, text_digest

_SEAL = "sha256 of the rest"
R = TypeVar("R", bound=BaseModel)


def sealed(record: BaseModel) -> bytes:
    """Return the record as JSON, with its digest."""
    body = record.model_dump(mode="json")
    whole = {**body, _SEAL: text_digest(canonical(body))}
    return json.dumps(whole, indent=1, ensure_ascii=False).encode()


def unsealed(content: bytes, model: type[R]) -> R:
    """Return the record that `sealed` gave.

    Raises
    ------
    ValueError
        If it is not what was written, be it by one byte.
    """
    body = json.loads(content)
    seal = body.pop(_SEAL, None) if isinstance(body, dict) else None
    if seal is None or seal != text_digest(canonical(body)):
        raise ValueError("the record is not what was written")
    return model.model_validate(body)
