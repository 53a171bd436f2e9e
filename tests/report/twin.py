"""What the page does, once more in Python: reads the columns of a table of all rows."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from pipeline.report.explorer import Payload

SPECIAL = {0: None, 1: math.inf, 2: -math.inf}


class Reader:
    """Reads columns that stand one after the other."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def take(self, length: int) -> bytes:
        self.at += length
        assert self.at <= len(self.content)
        return self.content[self.at - length : self.at]

    def planes(self, width: int, rows: int) -> list[int]:
        found = np.zeros(rows, np.int64)
        for place in range(width):
            found += np.frombuffer(self.take(rows), np.uint8).astype(np.int64) * 256**place
        return found.tolist()

    def column(self, code: dict[str, Any], rows: int) -> list[Any]:
        if code["as"] == "list":
            return json.loads(self.take(code["bytes"]))
        if code["as"] == "text":
            texts = [None, *json.loads(self.take(code["bytes"]))]
            return [texts[place] for place in self.planes(code["width"], rows)]
        if code["as"] == "whole":
            scale = code.get("scale")
            found = [number - 1 if number else None for number in self.planes(code["width"], rows)]
            return [n / scale if n is not None and scale else n for n in found]
        assert code["as"] == "decimal"
        mantissas, powers = (
            [n - 65536 if n > 32767 else n for n in self.planes(2, rows)] for _ in range(2)
        )
        return [
            SPECIAL[m] if power == -(2**15) else float(f"{m}e{power}")
            for m, power in zip(mantissas, powers, strict=True)
        ]


def table(found: Payload) -> dict[str, list[Any]]:
    """Return the columns of the table; all bytes are read."""
    reader = Reader(found.rows)
    columns = {
        head["name"]: reader.column(head["code"], found.kept) for head in found.head["columns"]
    }
    assert reader.at == len(found.rows)
    return columns


def details(found: Payload) -> dict[str, list[list[tuple[Any, ...]]]]:
    """Return of each kind of details the rows that belong to each row of the table."""
    reader = Reader(found.details)
    kinds = {}
    for head in found.head["details"]:
        counts = reader.column(head["counts"], found.kept)
        columns = [reader.column(each["code"], head["rows"]) for each in head["columns"]]
        rows = list(zip(*columns, strict=True))
        ends = np.cumsum([0, *counts])
        kinds[head["name"]] = [rows[ends[i] : ends[i + 1]] for i in range(found.kept)]
    assert reader.at == len(found.details)
    return kinds
