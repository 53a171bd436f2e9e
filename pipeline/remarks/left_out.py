"""Remarks on input that could not be read."""

from __future__ import annotations

from pipeline.remarks.base import Found, Look, check
from pipeline.remarks.remark import remark


@check(stages=(), threshold=1, means="places of the input")
def left_out(look: Look, threshold: float) -> Found:
    """Count places of the input that could not be read and were left out."""
    if look.left_out >= threshold:
        yield remark(
            "note",
            f"left out {look.left_out:,} place(s) of the input",
            such_as=look.left_out_examples,
            remedy="mend them in the file if they are to count",
            places=look.left_out,
        )
