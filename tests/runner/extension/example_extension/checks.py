"""A check of one's own."""

from __future__ import annotations

from pipeline.remarks.base import Found, Look, check, remark


@check(stages=("filter.rare",), threshold=1, means="candidates")
def some_are_rare(look: Look, threshold: float) -> Found:
    """Say how many candidates are rare."""
    found = look.rows("candidates")
    if found >= threshold:
        yield remark("warning", f"{found} rare candidates", rare=found)
