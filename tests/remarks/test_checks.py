"""All checks: that each looks at stages that there are, and none fails on tables without rows."""

from __future__ import annotations

import pytest

from pipeline.remarks.base import CHECKS
from pipeline.stages.base import STAGES


@pytest.mark.parametrize("name", list(CHECKS))
def test_a_check_looks_at_stages_that_there_are(name: str) -> None:
    check = CHECKS.get(name)
    assert set(check.stages) <= set(STAGES)
    assert check.means
    assert check.doc.endswith(".")
    assert check.threshold > 0
