"""What the pages are told of cards and decisions, as JSON."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pipeline.annotate.firsts import firsts
from pipeline.formats.decisions.folding import Standing
from pipeline.formats.decisions.log import Outcome, Round
from pipeline.formats.decisions.state import Card


def told(connection: sqlite3.Connection, cards: Sequence[Card], named: Round) -> list[Any]:
    """Return cards for a page; in the adjudication round with what the first round said."""
    every = [_card(each) for each in cards]
    if named == "adjudication":
        said = firsts(connection, [each.id for each in cards])
        every = [{**each, "first": [asdict(one) for one in said[each["id"]]]} for each in every]
    return every


def stands(standing: Standing) -> dict[str, Any]:
    """Return what stands for a card, for a page."""
    return {
        "answer": standing.answer, "unsure": standing.unsure, "note": standing.note,
        "version": standing.version,
    }  # fmt: skip


def became(key: str, outcome: Outcome) -> dict[str, Any]:
    """Return what became of a decision, for the page that sent it under a key."""
    return {
        "key": key, "status": outcome.status, "entry": outcome.entry, "id": outcome.id,
        "standing": stands(outcome.standing),
    }  # fmt: skip


def _card(card: Card) -> dict[str, Any]:
    # l2 comes before l10
    units = sorted(card.shown.get("units", {}).items(), key=lambda unit: (len(unit[0]), unit[0]))
    return {
        "id": card.id, "place": card.place, "units": units,
        "examples": card.shown.get("examples", []),
        "lexicon_forms": card.shown.get("lexicon_forms"), **stands(card.standing),
    }  # fmt: skip
