"""Draw the pictures of docs/annotation.md: pages of `lexassay annotate`, seen in a Chromium.

python docs/update_annotation.py

It needs the extras web and browser, and a Chromium. The experiments are those that the chapter and
the page on paper dictionaries tell their readers to save; who decided what, and when, is invented.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from pipeline.annotate.sync import sheet_rows
from pipeline.annotate.tasks import SheetWork, open_work
from pipeline.formats import annotation_log
from pipeline.formats.annotation_log import open_log

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HERE = Path(__file__).parent
ROOT = HERE.parent
SHOWN = {
    "verbs.toml": HERE / "annotation.md",
    "mine/paper.toml": HERE / "howto" / "paper-dictionary.md",
}
"""Experiment to the page that tells its readers to save it."""
PICTURES = ("card", "phone", "keying", "coordinator")
WIDE, PHONE = 1040, {"width": 390, "height": 844}
FINGER = {"has_touch": True, "is_mobile": True, "color_scheme": "dark"}
HEIGHTS = {"card": 520, "keying": 470, "coordinator": 960}
BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)
SHARES = {"anna": 0.75, "ben": 0.55, "annotator": 0.4}
"""How much of their cards people have done."""
COMPUTED = "Computed 2 seconds ago, on 2026-03-02 09:20:06 UTC."
NOTE = "SVC: the verb could be omitted"


def experiment(name: str) -> str:
    """Return an experiment as a page shows it."""
    text = SHOWN[name].read_text(encoding="utf-8")
    match = re.search(rf"^:caption: {re.escape(name)}\n\n(.*?)^```$", text, re.M | re.S)
    if match is None:
        raise SystemExit(f"{SHOWN[name]} shows no {name}")
    return match[1]


def laid_out(folder: Path) -> dict[str, SheetWork]:
    """Make data and experiments in a folder, and return what they ask people for."""
    place = folder / "data" / "pp-verb"
    command = [sys.executable, str(ROOT / "data" / "make_corpus.py"), str(place)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    _lexassay(folder, "new", "lexicon", "mine")
    works = {}
    for name in SHOWN:
        (folder / name).write_text(experiment(name), encoding="utf-8")
        works[name] = open_work(folder / name, runs=folder / "runs")
    return works


def decide(work: SheetWork, choose: Callable[[str, Mapping[str, Any]], str | None]) -> None:
    """Let everybody decide on their first cards, one after the other, at invented times."""
    for who, cards in sheet_rows(work).group_by("annotator", maintain_order=True):
        name, at = str(who[0]), BEGAN
        with (
            open_log(work.database) as connection,
            mock.patch.object(annotation_log, "datetime") as clock,
        ):
            for row in cards.head(round(SHARES[name] * cards.height)).to_dicts():
                seconds = 2 + _chance(name, row["id"], "s") ** 2 * 9
                at += timedelta(seconds=seconds + 1)
                clock.now.return_value = at
                annotation_log.append(
                    connection, [_decision(name, row, choose(name, row), seconds)]
                )


def _decision(
    who: str, row: Mapping[str, Any], answer: str | None, seconds: float
) -> annotation_log.Decision:
    key, doubt = f"{who} {row['id']}", _chance(who, row["id"], "unsure") < 0.06
    note = NOTE if doubt and answer == "SVC" else ""
    return annotation_log.Decision(
        key, who, row["id"], answer=answer, unsure=doubt, note=note, seconds=round(seconds, 1)
    )


def _chance(*parts: str) -> float:
    """Return a number in [0, 1) that only these texts decide on."""
    return zlib.crc32(" ".join(parts).encode()) / 2**32


def labels(folder: Path) -> Callable[[str, Mapping[str, Any]], str]:
    """Return who says what of a pair: what was planted, and sometimes another label."""
    with (folder / "data" / "pp-verb" / "pp-verb.labels.tsv").open(encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t")
        planted = {(row["l1"], row["l2"]): row["label"] for row in rows}

    def label_of(who: str, row: Mapping[str, Any]) -> str:
        label = planted[row["l1"], row["l2"]]
        strays = _chance(who, row["id"], "label") < (0.05 if label == "free" else 0.15)
        other = {"SVC": "figurative", "figurative": "free", "free": "figurative"}
        return other[label] if strays else label

    return label_of


def forms(folder: Path) -> Callable[[str, Mapping[str, Any]], str]:
    """Return what the printed dictionary lists of a lemma; a dash if it lacks the lemma."""
    with (folder / "mine" / "printed.tsv").open(encoding="utf-8") as file:
        printed: dict[str, list[str]] = {}
        for row in csv.DictReader(file, delimiter="\t"):
            printed.setdefault(row["headword"], []).append(row["forms"])
    return lambda _, row: ", ".join(printed.get(row["lemma"], ["-"]))


def _lexassay(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "pipeline.cli", *arguments]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def serve(folder: Path, name: str) -> Iterator[dict[str, str]]:
    """Serve an experiment by the command, and yield everybody's link as it prints them."""
    command = [sys.executable, "-m", "pipeline.cli", "annotate", name, "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        links: dict[str, str] = {}
        try:
            for line in server.stdout or ():
                if match := re.fullmatch(r" +(.+?) +(http://\S+)\n", line):
                    links[match[1]] = match[2]
                if "Ctrl+C" in line:
                    break
            yield links
        finally:
            server.terminate()


def picture(page: Page, name: str, place: str) -> None:
    """Take the picture of what a page shows once a place of it is there."""
    page.locator(place).first.wait_for()
    page.screenshot(path=HERE / f"annotate-{name}.png", animations="disabled", caret="hide")


def opened_page(browser: Browser, link: str, name: str) -> Page:
    """Return a page in a window that is as high as its picture."""
    window = {"viewport": {"width": WIDE, "height": HEIGHTS[name]}} if name in HEIGHTS else {
        "viewport": PHONE, **FINGER
    }  # fmt: skip
    page = browser.new_context(**window).new_page()
    page.goto(link)
    return page


def draw(browser: Browser, folder: Path) -> None:
    """Take all pictures from pages that are served in a folder."""
    with serve(folder, "verbs.toml") as links:
        for name, who in (("card", "anna"), ("phone", "ben")):
            picture(opened_page(browser, links[who], name), name, ".unit")
        page = opened_page(browser, links["coordinator"], "coordinator")
        page.locator("#certainty table").first.wait_for()
        # The one time that is not invented; the picture is to be the same each time.
        computed = page.get_by_text(re.compile(r"^Computed "))
        computed.evaluate("(node, text) => { node.textContent = text }", COMPUTED)
        picture(page, "coordinator", "#certainty table")
    with serve(folder, "mine/paper.toml") as links:
        picture(opened_page(browser, links["annotator"], "keying"), "keying", ".unit")


def main() -> None:
    """Draw all pictures."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415, tests do without it

    chromium = shutil.which(os.environ.get("LEXASSAY_CHROMIUM") or "chromium")
    if chromium is None:
        raise SystemExit("no Chromium is here: the pictures stay as they are")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        works = laid_out(folder)
        decide(works["verbs.toml"], labels(folder))
        decide(works["mine/paper.toml"], forms(folder))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        draw(browser, folder)
        browser.close()


if __name__ == "__main__":
    main()
