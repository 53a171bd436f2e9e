"""What is refused, in which words, before Polars sees anything of it."""

from __future__ import annotations

from typing import NoReturn

import polars as pl
import pytest

from pipeline.expressions import FUNCTIONS, expression, rewritten
from pipeline.expressions.grammar import DEEPEST, LONGEST, MOST
from tests.expressions.frames import refusal

HOSTILE = {
    "form IN (SELECT x FROM read_csv('/etc/passwd'))": r"READ_CSV is no function .*column 24\)",
    "form IN (SELECT x FROM read_parquet('http://localhost/x'))": "READ_PARQUET is no function",
    "form IN (SELECT * FROM '/etc/passwd')": "IN with a subquery",
    "f > (SELECT 1)": "a subquery is not allowed",
    "EXISTS (TABLE tokens)": "EXISTS is no function",
    "EXISTS (SELECT 1 FROM tokens)": "a subquery is not allowed",
    "(WITH x AS (SELECT 1) SELECT * FROM x)": "is not allowed",
    "f = ANY (SELECT 1)": "any is not allowed",
    "LENGTH(LPAD(form, 1000000000, 'x')) > 1": "LPAD is no function that may be used",
    "RPAD(form, 1000000000) = 'x'": r"RPAD is no function",
    "f > 1; DROP TABLE tokens": "more than one expression|cannot be read at",
    "DROP TABLE tokens": "cannot be read at 'DROP'",
    "SELECT 1": "cannot be read|is not allowed",
    "COPY tokens TO 'x'": "cannot be read at 'tokens'",
    "LIST_FILTER(f, x -> x > 1)": "LIST_FILTER is no function",
    "LEAST(f, x -> x > 1)": "a lambda is not allowed",
    "COLUMNS('.*') = 1": "COLUMNS is no function",
    '"^.*$" = 1': "is no name of a column",
    '"*" = 1': "is no name of a column",
    "* = 1": r"\* is not allowed",
    "tokens.form = 'x'": "a name with a dot",
    "form[1] = 'x'": "an index is not allowed",
    "UNNEST(f) = 1": "UNNEST is no function",
    "GENERATE_SERIES(1, 1000000000) = f": "GENERATE_SERIES is no function",
    "ARRAY[1, 2] = f": "array is not allowed",
    "$1 = f": "a parameter is not allowed",
    "f = ?": "a parameter is not allowed",
    "f = :name": "a parameter is not allowed",
    "E'\\x41' = form": "not in plain single quotation marks",
    "$$x$$ = form": "not in plain single quotation marks",
    "form = X'41'": "not in plain single quotation marks",
    "form = 0x41": "not in plain single quotation marks",
    "form = 'a' 'b'": "a text beside a text",
    "form = 'a": "a quotation mark or a comment is not closed",
    "form /* = 'a'": "a quotation mark or a comment is not closed",
    "CAST(f AS DATE) = 1": "a cast to DATE is not allowed; those to TINYINT",
    "f::varchar(3) = 'x'": r"a cast to VARCHAR\(3\) is not allowed",
    "f::int[] = 1": "a cast to .* is not allowed",
    "f ^ 2 = 1": "POW gives powers",
    "f & 1 = 1": "bitwise and is not allowed",
    "ABS(f) OVER (PARTITION BY g) = 1": r"a window \(OVER\)",
    "ABS(DISTINCT f) = 1": "distinct is not allowed",
    "ABS(f ORDER BY g) = 1": "order is not allowed",
    "ABS(f) FILTER (WHERE g) = 1": "filter is not allowed",
    "ABS(x => 1) = 1": "kwarg is not allowed",
    "pg.abs(f) = 1": "dot is not allowed",
    '"abs"(f) = 1': "a function in quotation marks",
    "REGEXP_LIKE(form, lemma)": "takes texts in single quotation marks",
    "form ~ lemma": "takes a text in single quotation marks",
    "form LIKE lemma": "takes a text in single quotation marks",
    "form LIKE 'a!%' ESCAPE '!'": "escape is not allowed",
    "form ~ '('": "no regular expression: unclosed group",
    "form ~ '(\\pL{500}){500}'": "no regular expression: it is too large",
    "REGEXP_LIKE(form, '(\\pL{500}){500}')": "no regular expression: it is too large",
    "REPLACE(form, 'x', 'xxxxxxxx') = ''": "no more than what it takes out",
    "REPLACE(form, lemma, form) = ''": "takes texts in single quotation marks",
    "f = 1 = g": "several ways without further brackets",
    "form || f + 1 = 'x'": "several ways without further brackets",
    "f + 1 IS DISTINCT FROM g IS TRUE": "several ways without further brackets",
    "f = g IS TRUE": "several ways without further brackets",
    "f IN g": "IN with a subquery, or without a list",
    "f > ": r"cannot be read at '>' \(column 3\)",
    "f = 1 AND\n(g > 2 h": r"cannot be read at 'h' \(line 2, column 8\)",
    "": "it is empty",
    "-- f": "it is empty",
    "STARTSWITH(form, 'x')": "allowed are STARTS_WITH, ABS",
    "CURRENT_TIMESTAMP()": "CURRENT_TIMESTAMP is no function",
    "GREATEST() = 1": "GREATEST takes 1 to 100 arguments, not 0",
    "SUM(f) > 1": r"is not row by row: .* SUM is of many rows \(column 1\)",
    "f > AVG(f)": r"is not row by row: .* AVG is of many rows \(column 5\)",
    "FIRST_VALUE(f) OVER () = 1": "is not row by row",
}


@pytest.fixture
def no_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(sql: str) -> NoReturn:
        pytest.fail(f"Polars was given {sql!r}")

    monkeypatch.setattr(pl, "sql_expr", refuse)


@pytest.mark.usefixtures("no_polars")
@pytest.mark.parametrize(("text", "said"), HOSTILE.items())
def test_it_is_refused_before_polars_sees_it(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        expression(text)


def test_the_allowed_functions_are_named() -> None:
    with pytest.raises(ValueError, match="no function") as error:
        expression("SHA256(form) = ''")
    assert set(FUNCTIONS) <= set(str(error.value).replace(",", "").split())


LARGE = {
    "long": "'" + "x" * LONGEST + "' = form",
    "brackets": "(" * 5000 + "f" + ")" * 5000,
    "negations": "NOT " * 4000 + "p",
    "minus": "- " * 4000 + "f",
    "casts": "f" + "::int" * 2000,
    "functions": "ABS(" * 2000 + "f" + ")" * 2000,
    "or": " OR ".join(["f = 1"] * 1000),
    "texts": " || ".join(["form"] * 1000),
    "patterns": " OR ".join(["form ~ '\\pL{200}'"] * 30),
    "patterns by name": " OR ".join(["REGEXP_LIKE(form, 'x')"] * 30),
    "branches": "CASE f " + "WHEN 1 THEN 2 " * 600 + "END",
    "list of columns": f"f IN ({', '.join(['g'] * 600)})",
    "doubled": "NULLIF(" * 9 + "f" + ", 1)" * 9,
    "between": "(" * 9 + "p" + " BETWEEN 1 AND 2)" * 9,
    "lists in lists": "(" * 5 + "p" + " IN (f, g, h, i))" * 5,
    "parts": "SPLIT_PART(" * 7 + "form" + ", 'x', 1)" * 7,
}


@pytest.mark.usefixtures("no_polars")
@pytest.mark.parametrize("case", LARGE)
def test_what_is_too_large_is_refused(case: str) -> None:
    with pytest.raises(ValueError, match="characters|nested|more than"):
        expression(LARGE[case])


ENDS = {
    "brackets": ("(", "f", ")"),
    "negations": ("NOT (", "p", ")"),
    "functions": ("ABS(-(", "f", "))"),
    "casts": ("", "f", "::int"),
    "cases": ("CASE WHEN (", "p", ") THEN TRUE END"),
    "right": ("f + (", "f", ")"),
    "or": ("p OR (p AND (", "p", "))"),
    "is": ("(", "p", " IS TRUE)"),
    "in": ("(", "f", " IN (1, 2))"),
    "texts": ("LEFT(form || LOWER(", "form", "), 3)"),
}


@pytest.mark.parametrize("case", ENDS)
def test_what_is_not_too_deep_is_read_by_polars(case: str) -> None:
    before, middle, after = ENDS[case]
    texts = [before * deep + middle + after * deep for deep in range(1, 2 * DEEPEST)]
    allowed = [text for text in texts if not refusal(text)]
    assert DEEPEST // 6 < len(allowed) < len(texts)
    for text in allowed:
        pl.sql_expr(rewritten(text))


@pytest.mark.parametrize("row", ["f = 1 OR ", "g || ", "f + ", "f * ", "p AND "])
def test_the_longest_rows_are_computed(row: str) -> None:
    longest = MOST // 2 if "=" in row else MOST
    rows = pl.DataFrame({"f": [1, 2], "g": ["a", "b"], "p": [True, False]})
    whole = expression((row * longest).rstrip(" OR|+*AND"))
    assert rows.lazy().select(whole).collect().height == 2
    with pytest.raises(ValueError, match="more than"):
        expression((row * (longest + 3)).rstrip(" OR|+*AND"))
