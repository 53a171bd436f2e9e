"""A check of one's own."""

from __future__ import annotations

from pipeline.remarks.base import CheckInput, Found, check, remark


@check(stages=("filter.rare",), threshold=1, means="candidates")
def some_are_rare(stage: CheckInput, threshold: float) -> Found:
    """Report the number of rare candidates."""
    found = stage.rows("candidates")
    if found >= threshold:
        yield remark("warning", f"{found} rare candidates", rare=found)
