"""One person annotates by key: how long it takes from the key to the next card.

python benchmarks/annotate_page.py [--items 10000] [--decisions 300] [--browser /usr/bin/chromium]

The command serves an invented experiment on loopback, and a headless Chromium opens the page. A
decision is timed in the page: from the time stamp of its keydown, through the answer of the server
that has it on the disk, to the second animation frame after the next card stands in the document.
The first of these frames paints the card, so that up to a frame (17 ms) is counted too much, and
nothing too little. Beside it stands what a sync of this disk costs, which is part of it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from annotate_desk import furnish, logged, served, spread, sync_costs
from playwright.sync_api import Page, sync_playwright
from results import record

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
WATCH = """() => {
  window.taken = [];
  let pressed = 0;
  addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
  const painted = () => taken.push(performance.now() - pressed);
  new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(painted)))
    .observe(document.getElementById("card"), { attributeFilter: ["data-id"] });
}"""


def pressed(page: Page, address: str, decisions: int) -> list[float]:
    """Decide card after card; return the seconds of each."""
    page.goto(address)
    page.locator(".unit").first.wait_for()
    page.evaluate(WATCH)
    for number in range(decisions):
        page.keyboard.press("123"[number % 3])
        page.wait_for_function("(count) => taken.length === count", arg=number + 1)
    taken: list[float] = page.evaluate("taken")
    return [each / 1000 for each in taken]


def main() -> int:
    """Serve, press, count, print; 1 if a decision is missing or too many."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--decisions", type=int, default=300)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        furnish(folder, people=["anna"], items=given.items)
        with served(folder) as links, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=given.browser, args=FLAGS)
            waits = pressed(browser.new_page(), links["anna"], given.decisions)
            browser.close()
        kept, sync = len(logged(folder)), sync_costs(folder)
    print(f"{given.items:,} items, {kept} of {given.decisions} decisions saved: {spread(waits)}")
    print(f"a sync of this disk: median {sync[0] * 1e3:.1f} ms, 99 % within {sync[1] * 1e3:.1f} ms")
    for what, share in (("median", 0.5), ("99th percentile", 0.99)):
        ratio = record(f"annotate_page: key to next card, {what}", float(np.quantile(waits, share)))
        print(f"{what}: {ratio or 'the first of its name'}")
    return int(kept != given.decisions)


if __name__ == "__main__":
    sys.exit(main())
