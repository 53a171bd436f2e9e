"""Keying sheets: the forms of a printed dictionary, looked up for sampled lemmas."""

from __future__ import annotations

import polars as pl

from schemas.base import Table
from schemas.declaration import column


class KeyingRows(Table, further=(pl.String,)):
    """One row per lemma and annotator: what the sheets hold, in the order shown."""

    annotator: str = column("who is to look the lemma up", key=True)
    order: int = column("place in the annotator's sheet", key=True, ge=1)
    id: str = column("stable id, a hash of the lemma")
    lemma: str = column("lemma to look up")


class KeyedEntries(Table):
    """What stands in the keying sheets that came back, as typed."""

    file: str = column("name of the sheet's file", key=True)
    line: int = column("row of the sheet, as the spreadsheet counts", key=True, ge=1)
    annotator: str = column("who looked it up", nullable=True)
    id: str = column("stable id of the lemma", nullable=True)
    lemma: str = column("lemma", nullable=True)
    forms: str = column("what was typed; null = nothing yet", nullable=True)
    note: str = column("remark of the annotator", nullable=True)


class KeyedLemmas(Table):
    """One row per lemma of the sample that was looked up."""

    lemma: str = column("lemma", key=True)
    found: bool = column("whether the dictionary has it")
    n_forms: int = column("forms keyed in; forms", ge=0)
    note: str = column("remarks of the annotators", nullable=True)
