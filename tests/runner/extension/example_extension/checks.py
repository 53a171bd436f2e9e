"""A check of one's own."""

from __future__ import annotations

from pipeline.remarks.base import CheckInput, Found, check, remark


@check(stages=("filter.rare",), threshold=1, means="candidates")
def some_are_rare(stage: CheckInput, threshold: float) -> Found:
    """Count the candidates that are rare."""
    result = stage.rows("candidates")
    if result >= threshold:
        yield remark("warning", f"{result} rare candidates", rare=result)
