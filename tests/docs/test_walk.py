"""Every page of the documentation is walked: what it tells the reader to do works."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.docs.walk import AT_THE_END, Stumble, agrees, needs_data, steps, walk

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent
TEXTS = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "data" / "README.md"])
PAGES = [
    page
    for page in TEXTS
    if page.parent.name != "tutorials"  # make docs walks these, in an environment that is new
    if any(s.kind in {"sh", "text"} for s in steps(page.read_text()))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
@pytest.mark.long
def test_a_page_can_be_walked(page: Path, tmp_path: Path) -> None:
    if needs_data(page) and not os.environ.get("LEXASSAY_DATA"):
        pytest.skip("no public data")
    assert walk(page, tmp_path / "reader", PROGRAMS) > 0


def test_there_are_pages() -> None:
    assert len(PAGES) >= 2


def page(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "```sh\nfalse\n```\n",
        "```sh\ntrue | false | cat\n```\n",
        "```sh 3\ntrue\n```\n",
        "```sh\necho a\n```\n\n```text\nb\n```\n",
        "```sh\necho a; echo b\n```\n\n```text\na\n```\n",
        "```python\n1 / 0\n```\n",
        "```python\nx = 1\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n1\n```\n",
        "<!-- before: false -->\n",
    ],
)
@pytest.mark.long
def test_what_is_not_so_is_found(text: str, tmp_path: Path) -> None:
    with pytest.raises(Stumble, match=r"page\.md:\d+: "):
        walk(page(tmp_path, text), tmp_path / "reader", PROGRAMS)


@pytest.mark.parametrize(
    "text",
    [
        "```sh 3\nexit 3\n```\n",
        "```sh\nseq 5\n```\n\n```text\n1\n...\n5\n```\n",
        "```sh\necho done in 3.2 s\n```\n\n```text\ndone in … s\n```\n",
        "```python\nx = 1\n```\n\n```python\nprint(x)\n```\n\n```text\n1\n```\n",
        "<!-- before: echo b > a -->\n\n```sh\ncat a\n```\n\n```text\nb\n```\n",
        (
            "```{code-block} toml\n:caption: `a/b.toml`\n\nx = 1\n```\n\n"
            f"```{{code-block}} toml\n:caption: {AT_THE_END}`a/b.toml`\n\ny = 2\n```\n\n"
            "```sh\ncat a/b.toml\n```\n\n```text\nx = 1\ny = 2\n```\n"
        ),
        "```sh\nls -d configs data\n```\n\n```text\nconfigs\ndata\n```\n",
        "```toml\nnot = 'done'\n```\n\n    false\n\n```sh\ntrue\n```\n",
    ],
)
@pytest.mark.long
def test_what_is_so_passes(text: str, tmp_path: Path) -> None:
    assert walk(page(tmp_path, text), tmp_path / "reader", PROGRAMS) == len(steps(text))


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\n", "a   \n\n", True),
        ("a.b\n", "axb\n", False),
        ("...\nb\n", "b\n", True),
        ("...\nb\n", "a\nb\nc\n", False),
        ("a …\n", "b c\n", False),
    ],
)
def test_what_agrees(shown: str, printed: str, same: bool) -> None:
    assert agrees(shown, printed) is same
