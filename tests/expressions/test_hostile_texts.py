"""Whatever a text is, Polars is given names, values and what is allowed, or nothing."""

from __future__ import annotations

import re

import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.expressions import FUNCTIONS, rewritten

QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")+\"""")
NUMBER = re.compile(r"\b\d+\.?\d*(?:[eE][+-]?\d+)?")
KEYWORDS = {
    *("AND", "OR", "NOT", "IS", "IN", "BETWEEN", "LIKE", "ILIKE", "DISTINCT", "FROM", "NULL"),
    *("TRUE", "FALSE", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "TRY_CAST", "AS"),
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "REAL", "DOUBLE", "VARCHAR", "BOOLEAN"),
}
SIGNS = {
    *("=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "||", "~", "!~", "~*", "!~*"),
    *("(", ")", ","),
}

WORDS = [
    *("SELECT", "FROM", "WHERE", "IN", "(", ")", ",", "*", "read_csv", "READ_PARQUET", "scan_csv"),
    *("'/etc/passwd'", '"/etc/passwd"', "`/etc/passwd`", "/etc/passwd", "form", "f", "1", "AS"),
    *(
        "WITH",
        "UNION",
        "JOIN",
        "TABLE",
        "->",
        "=",
        "'",
        '"',
        "`",
        "$$",
        "E'",
        "U&'",
        "::",
        "EXISTS",
    ),
    *("ABS", "LOWER", "NOT", "AND", "OR", "ANY", "ALL", "LATERAL", "UNNEST", "[", "]", "{", "}"),
    *(
        "VALUES",
        ".",
        ";",
        "--",
        "/*",
        "*/",
        "\n",
        "\\",
        "\0",
        "OVER",
        "int",
        "CASE",
        "WHEN",
        "THEN",
    ),
    *("END", "''", "%", "?", ":", "@", "#", "||", "~", "!", "^", "IS", "NULL", "DISTINCT", "LIKE"),
]


def parts(written: str) -> set[str]:
    """Return what a text has beside names, texts and numbers: a scanner, no parser."""
    bare = NUMBER.sub(" ", QUOTED.sub(" ", written))
    return set(re.findall(r"\w+|[(),]|[^\w\s(),]+", bare))


def check(text: str) -> None:
    try:
        written = rewritten(text)
    except ValueError:
        return
    minus = {each.rstrip("-") or "-" for each in parts(written)}  # the sign of a number
    assert minus <= KEYWORDS | SIGNS | set(FUNCTIONS), written
    assert not {"DISTINCT", "FROM"} & parts(written) or "DISTINCT FROM" in written
    try:
        made = pl.sql_expr(written)
    except pl.exceptions.PolarsError:
        return
    assert "subplan" not in str(made).lower()


@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))
@example("form = 'x' -- ' OR form IN (SELECT 1)\n")
@example('`a" = 1 OR EXISTS (SELECT 1) --` = 1')
@example("'\\' = form OR EXISTS (SELECT 1) -- '")
def test_words_of_sql(text: str) -> None:
    check(text)


@given(st.text(max_size=40))
def test_any_text(text: str) -> None:
    check(text)


@given(st.text(max_size=20), st.text(min_size=1, max_size=20))
def test_texts_and_names_are_kept_to_the_letter(text: str, name: str) -> None:
    quoted = "'{}'".format(text.replace("'", "''"))
    assert pl.select(pl.sql_expr(rewritten(quoted)).alias("x")).item() == text
    if name != "*" and not (name.startswith("^") and name.endswith("$")):
        column = '"{}"'.format(name.replace('"', '""'))
        assert pl.sql_expr(rewritten(column)).meta.root_names() == [name]
