"""Links within the project lead to files that are there, and to headings that they have."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("data/*.md")])
FENCED = re.compile(r"^(`{3,}).*?^\1 *$", re.M | re.S)
LINK = re.compile(r"\]\(<?(?!\w+:)([^)\s>]+)>?\)")


@cache
def anchors(path: Path) -> set[str]:
    """Return what headings of a page are called by links, as GitHub and the site make it."""
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ +(.+?) *$", text, re.M)
    shorn = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles)
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in shorn}


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    lost = [link for link in LINK.findall(text) if not leads(page, link)]
    assert lost == []


def leads(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not anchor or target.suffix != ".md" or anchor in anchors(target)


def test_there_are_links() -> None:
    assert sum(len(LINK.findall(page.read_text(encoding="utf-8"))) for page in TEXTS) > 80
