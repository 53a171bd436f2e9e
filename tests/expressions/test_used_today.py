"""Every condition and formula of the repository is read as Polars reads it."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from pipeline.expressions import expression

ROOT = Path(__file__).parents[2]
FOLDERS = ("configs", "docs", "pipeline", "tests", "benchmarks", "data")
OWN = Path(__file__).parent
KEYS = r"(?:where|through|attach|formulas|formula|prep|prt|p|third|mine|share|x)"
OPERATORS = re.compile(r"[=<>(*/]|\b(IS|IN|LIKE|BETWEEN)\b")
GIVEN = re.compile(KEYS + r"""["']?\s*[=:]\s*f?"((?:[^"\\\n]|\\.)*)\"""")


def texts() -> list[str]:
    """Return what stands as a condition or a formula anywhere, if Polars takes it for SQL."""
    files = [ROOT / "README.md", *(path for each in FOLDERS for path in (ROOT / each).rglob("*"))]
    found: set[str] = set()
    for path in files:
        if path.suffix in {".toml", ".md", ".py"} and not path.is_relative_to(OWN):
            found |= set(GIVEN.findall(path.read_text(encoding="utf-8")))
    return sorted(filter(_is_sql, (text.replace(r"\\", "\\") for text in found)))


def _is_sql(text: str) -> bool:
    try:
        names = pl.sql_expr(text).meta.root_names()
    except pl.exceptions.PolarsError:
        return False
    return bool(names) and OPERATORS.search(text) is not None


KNOWN = {
    "upos = 'NOUN'",
    "upos NOT IN ('PUNCT', 'SYM', 'X')",
    "pos = 'ADJA' AND lemma <> '<unknown>'",
    "f >= 50 AND f > 0.1 * LEAST(f1, f2)",
    "log10((o / f_12) / (f3 / N))",
    "o11 * ln(o11 / e11)",
    "n IN (500, 1000)",
}
OF_MANY_ROWS = {"SUM(o11)", "AVG(o11)"}


def test_they_are_found() -> None:
    assert set(texts()) >= KNOWN


@pytest.mark.parametrize("text", [text for text in texts() if text not in OF_MANY_ROWS])
def test_the_expression_is_the_same(text: str) -> None:
    assert expression(text).meta.eq(pl.sql_expr(text))
