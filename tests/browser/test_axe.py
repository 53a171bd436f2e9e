"""What axe-core finds fault with, for those who read with their ears or their fingers."""

from __future__ import annotations

import pytest

from tests.browser.pages import AXE, Open, nothing
from tests.browser.reports import REPORTS

LOOK = """async () => {
  const {violations} = await axe.run(document, {resultTypes: ["violations"]});
  return violations.filter(({impact}) => ["serious", "critical"].includes(impact))
    .map(({id, nodes}) => `${id}: ${nodes.length} times, as ${nodes[0].html.slice(0, 200)}`);
}"""


@pytest.mark.axe
@pytest.mark.parametrize("name", REPORTS)
def test_no_serious_violation(read_report: Open, name: str) -> None:
    page = read_report(name)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    nothing(page.evaluate(LOOK))
