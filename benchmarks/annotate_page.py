"""One person annotates by key: how long it takes from the key to the next card.

python benchmarks/annotate_page.py [--items 10000] [--decisions 100] [--latency 400]

The command serves an invented experiment on loopback, and a headless Chromium opens the page, with
a latency of the network. A decision is timed in the page, from the time stamp of its keydown to the
moment when the next card stands in the document, and to the end of the animation frame that paints
it, which is up to 17 ms later. The decision goes to the browser's disk and to the server meanwhile.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from annotate_desk import furnish, logged_answers, serve, spread, sync_costs
from playwright.sync_api import Page, sync_playwright
from results import record

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
WATCH = """() => {
  window.taken = [];
  let pressed = 0;
  addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
  new MutationObserver(() => {
    const placed = performance.now() - pressed;
    const painted = () => taken.push([placed, performance.now() - pressed]);
    requestAnimationFrame(() => setTimeout(painted));
  }).observe(document.getElementById("card"), { attributeFilter: ["data-id"] });
}"""


def time_decisions(
    page: Page, address: str, decisions: int, latency: int
) -> list[tuple[float, float]]:
    """Decide card after card; return the seconds of each to the document and to the paint."""
    page.goto(address)
    page.locator("#card[data-ready]").wait_for()
    page.evaluate(WATCH)
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", {
        "offline": False, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1,
    })  # fmt: skip
    for number in range(decisions):
        page.locator("#card[data-ready]").wait_for()
        page.keyboard.press("123"[number % 3])
        page.wait_for_function("(count) => taken.length === count", arg=number + 1)
    page.locator('#waiting[data-count="0"]').wait_for(state="attached")
    times: list[tuple[float, float]] = page.evaluate("taken")
    return [(placed / 1000, painted / 1000) for placed, painted in times]


def main() -> int:
    """Serve, press, count, print; 1 if a decision is missing or too many."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--decisions", type=int, default=100)
    parser.add_argument("--latency", type=int, default=400, help="milliseconds")
    parser.add_argument("--browser", default="/usr/bin/chromium")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        furnish(folder, people=["anna"], items=options.items)
        with serve(folder) as links, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=options.browser, args=FLAGS)
            waits = time_decisions(
                browser.new_page(), links["anna"], options.decisions, options.latency
            )
            browser.close()
        answers, sync = len(logged_answers(folder)), sync_costs(folder)
    print(f"{options.items:,} items, {answers} of {options.decisions} decisions saved")
    print(f"a sync of this disk: median {sync[0] * 1e3:.1f} ms, 99 % within {sync[1] * 1e3:.1f} ms")
    for what, times in zip(("placed", "painted"), zip(*waits, strict=True), strict=True):
        print(f"next card {what}: {spread(times)}")
        ratio = record(f"annotate_page: next card {what}, median", float(np.median(times)))
        print(f"ratio: {ratio or 'the first of its name'}")
    return int(answers != options.decisions)


if __name__ == "__main__":
    sys.exit(main())
