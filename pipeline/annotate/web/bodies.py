"""What pages send: checked strictly, turned into decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.annotate.links import Person
from pipeline.annotate.web.errors import Refused
from pipeline.annotate.work import Work
from pipeline.formats.decisions.log import Decision, Round
from pipeline.kernels.annotation.names import fold

_NOTE = 10_000
_TEXT = 100_000
_ID = 10_000
_FEW = 3
"""Mistakes that a message tells."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SentDecision(_Strict):
    """A decision as a page sends it."""

    key: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,64}$")]
    id: Annotated[str, Field(max_length=_ID)]
    kind: Literal["label", "skip", "undo"]
    answer: Annotated[str, Field(max_length=_TEXT)] | None = None
    unsure: bool = False
    note: Annotated[str, Field(max_length=_NOTE)] = ""
    seconds: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] | None = None
    replaces: Annotated[int, Field(ge=0, lt=2**63)] | None = None


class SentDecisions(_Strict):
    """The body of a request."""

    decisions: list[SentDecision]


def checked(text: bytes) -> list[SentDecision]:
    """Return the decisions of a body.

    Raises
    ------
    Refused
        400 with what is wrong where.

    Examples
    --------
    >>> checked(b'{"decisions": [{"key": "abcdefgh", "id": "", "kind": "undo"}]}')[0].kind
    'undo'
    >>> checked(b'{"decisions": [{"key": "abcdefgh", "id": "x", "kind": "seen"}]}')
    Traceback (most recent call last):
    ...
    pipeline.annotate.web.errors.Refused: Nothing was saved, 1 mistake in the body: \
decisions.0.kind: Input should be 'label', 'skip' or 'undo'. Load the page again.
    """
    try:
        return SentDecisions.model_validate_json(text).decisions
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        raise Refused(400, _mistakes(found)) from None


def meant(sent: Sequence[SentDecision], work: Work, who: Person, named: Round) -> list[Decision]:
    """Return what a person's decisions are in the log.

    Raises
    ------
    Refused
        400 with the keys of those that no page should send; then none is saved.
    """
    wrong = {each.key: said for each in sent if (said := _wrong(each, work))}
    if wrong:
        said = "; ".join(list(wrong.values())[:_FEW])
        many = f"{len(wrong)} of {len(sent)} decisions cannot be taken"
        what = f"Nothing was saved, {many}: {said}. Load the page again."
        raise Refused(400, what, refused=list(wrong))
    return [_decision(each, who, named) for each in sent]


def log_key(key: str, who: Person, named: Round) -> str:
    """Return a key as the log has it: nobody's key is another's, whatever a page sends.

    Examples
    --------
    >>> log_key("abcdefgh", Person("annotator", "Ana"), "annotation")
    'annotation/ana/abcdefgh'
    """
    return f"{named}/{fold(who.name)}/{key}"


def _decision(sent: SentDecision, who: Person, named: Round) -> Decision:
    return Decision(
        key=log_key(sent.key, who, named), annotator=who.name, id=sent.id, kind=sent.kind,
        answer=sent.answer if sent.kind == "label" else None, unsure=sent.unsure, note=sent.note,
        seconds=sent.seconds, replaces=sent.replaces, round=named,
    )  # fmt: skip


def _wrong(sent: SentDecision, work: Work) -> str | None:
    """Return what is wrong with a decision of this work; None if nothing is."""
    if sent.kind != "undo" and not sent.id:
        return f"a {sent.kind} needs an item, and has none"
    if sent.kind != "label":
        given = sent.answer and repr(sent.answer[:50])
        return f"a decision to {sent.kind} has no answer, but has {given}" if given else None
    if work.kind == "keying":
        return None if (sent.answer or "").strip() else f"{sent.id[:50]!r} has an empty answer"
    if sent.answer not in work.labels:
        labels = ", ".join(map(repr, work.labels))
        given = repr(sent.answer[:50]) if sent.answer is not None else "none"
        return f"{sent.id[:50]!r} has the label {given}, and there are {labels}"
    return None


def _mistakes(found: Sequence[Any]) -> str:
    """Return a sentence on what is wrong, without what was sent."""
    told = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'JSON'}: {each['msg']}"
                     for each in found[:_FEW])  # fmt: skip
    many = f"{len(found)} mistake{'s' if len(found) != 1 else ''} in the body"
    return f"Nothing was saved, {many}: {told}. Load the page again."
