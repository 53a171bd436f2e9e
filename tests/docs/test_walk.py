"""Every page of the documentation is tested: its commands and examples work."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.docs.walk import AT_THE_END, PageError, agrees, needs_data, steps, walk

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent
TEXTS = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "data" / "README.md"])
PAGES = [
    page
    for page in TEXTS
    if page.parent.name != "tutorials"  # make docs tests these in a new environment
    if any(s.kind in {"sh", "text"} for s in steps(page.read_text()))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
@pytest.mark.long
def test_every_step_of_a_page_works(page: Path, tmp_path: Path) -> None:
    if needs_data(page) and not os.environ.get("LEXASSAY_DATA"):
        pytest.skip("no public data")
    assert walk(page, tmp_path / "reader", PROGRAMS) > 0


def test_pages_with_steps_are_found() -> None:
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
def test_wrong_pages_are_reported(text: str, tmp_path: Path) -> None:
    with pytest.raises(PageError, match=r"page\.md:\d+: "):
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
def test_correct_pages_pass(text: str, tmp_path: Path) -> None:
    assert walk(page(tmp_path, text), tmp_path / "reader", PROGRAMS) == len(steps(text))


@pytest.mark.parametrize(
    ("text", "printed", "same"),
    [
        ("a\n", "a   \n\n", True),
        ("a.b\n", "axb\n", False),
        ("...\nb\n", "b\n", True),
        ("...\nb\n", "a\nb\nc\n", False),
        ("a …\n", "b c\n", False),
    ],
)
def test_output_may_be_abbreviated_on_a_page(text: str, printed: str, same: bool) -> None:
    assert agrees(text, printed) is same
