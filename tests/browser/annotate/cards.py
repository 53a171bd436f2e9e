"""What tests ask of a page of annotation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

EXAMPLES = [f"{word} Satz [[in]] der [[Frage]] ." for word in ("Ein", "Zwei", "Drei", "Vier")]


def pairs(count: int) -> Mapping[str, Mapping[str, Any]]:
    """Return so many pairs, p000 the first."""
    return {
        f"p{number:03}": {
            "units": {"l1": f"in:Frage{number}", "l2": f"stellen{number}"},
            "examples": EXAMPLES,
        }
        for number in range(count)
    }


def shows(page: Page, item: str) -> None:
    """Wait until the page shows a card; no item: until it shows none."""
    page.locator(f'#card[data-id="{item}"]').wait_for()


def says(page: Page, text: str, place: str = "#said") -> None:
    """Wait until a place of the page says something."""
    page.locator(place).filter(has_text=text).wait_for()


def label(page: Page, items: Iterable[str], key: str = "1") -> None:
    """Press a key on one card after the other, each once it is shown."""
    for item in items:
        shows(page, item)
        page.keyboard.press(key)


def waits(page: Page, count: int) -> None:
    """Wait until so many decisions are said to be not saved yet."""
    if count:
        word = "decision is" if count == 1 else "decisions are"
        says(page, f"{count} {word} not saved yet", "#waiting-text")
    else:
        page.locator("#waiting").wait_for(state="hidden")


def answers(log: Iterable[Mapping[str, Any]], kind: str = "label") -> list[tuple[str, str]]:
    """Return item and answer of all entries of a kind, in their order."""
    return [(row["id"], row["answer"]) for row in log if row["kind"] == kind]
