"""Expressions: allowed texts, texts passed to Polars, refused texts and their messages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

import polars as pl
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import schemas
from pipeline.expressions import FUNCTIONS, expression, rewrite_sql
from pipeline.expressions.functions import MANY
from pipeline.expressions.grammar import DEEPEST, LONGEST, MOST
from tests.expressions.frames import is_unchanged, refusal, value

REWRITTEN = {
    "upos = 'NOUN'": "\"upos\" = 'NOUN'",
    "upos != 'X' and f == 2": '("upos" <> \'X\') AND ("f" = 2)',
    "a AND b AND c OR d": '("a" AND "b" AND "c") OR "d"',
    "a - b - c + d": '"a" - "b" - "c" + "d"',
    "a - (b - c)": '"a" - ("b" - "c")',
    "a + b * c / d % 2": '"a" + ("b" * "c" / "d" % 2)',
    "-a * -1 - -2": '((-"a") * -1) - -2',
    "- - 1": "-(-1)",
    "NOT a = b": 'NOT ("a" = "b")',
    "NOT a IS NOT NULL": 'NOT ("a" IS NOT NULL)',
    "NOT NOT a": 'NOT (NOT "a")',
    "a NOT IN (-1, 'x', NULL, TRUE)": "\"a\" NOT IN (-1, 'x', NULL, TRUE)",
    "a IN (b, LOWER(c))": '"a" IN ("b", LOWER("c"))',
    "a NOT BETWEEN 1 AND b + 2": '"a" NOT BETWEEN 1 AND ("b" + 2)',
    "a IS NOT TRUE OR a IS NULL": '("a" IS NOT TRUE) OR ("a" IS NULL)',
    "a IS NOT DISTINCT FROM b": '"a" IS NOT DISTINCT FROM "b"',
    "form ~ '^\\p{L}+$' AND form !~* 'x'": "(\"form\" ~ '^\\p{L}+$') AND (\"form\" !~* 'x')",
    "form LIKE 'a%' OR form NOT ILIKE '_b'": "(\"form\" LIKE 'a%') OR (\"form\" NOT ILIKE '_b')",
    "REGEXP_LIKE(form, 'x', 'i')": "REGEXP_LIKE(\"form\", 'x', 'i')",
    "a || 'it''s' || '\\n'": "\"a\" || 'it''s' || '\\n'",
    "log(2, a) > Log10(b)": 'LOG(2, "a") > LOG10("b")',
    "a::float / cast(b AS int) > 1e-3": '(CAST("a" AS DOUBLE) / CAST("b" AS INTEGER)) > 1e-3',
    "CASE WHEN a > 1 THEN 'x' ELSE b END": 'CASE WHEN ("a" > 1) THEN \'x\' ELSE "b" END',
    "CASE a WHEN 1 THEN 2 END": 'CASE "a" WHEN 1 THEN 2 END',
    "a = 1 -- OR TRUE": '"a" = 1',
    "a /* x */ = /* it''s */ 1": '"a" = 1',
    '`end` = "say ""x"""': '"end" = "say ""x"""',
    '"prep.lemma" = Position': '"prep.lemma" = "Position"',
    "größe = 'Ä'": "\"größe\" = 'Ä'",
    "if(a, b, c)": 'IF("a", "b", "c")',
    "SUBSTR(a, 2) = Substring(a, 2, 3)": 'SUBSTR("a", 2) = SUBSTRING("a", 2, 3)',
}


@pytest.mark.parametrize(("text", "rewritten_text"), REWRITTEN.items())
def test_texts_are_rewritten(text: str, rewritten_text: str) -> None:
    assert rewrite_sql(text) == rewritten_text
    assert rewrite_sql(rewritten_text) == rewritten_text


@pytest.mark.parametrize("text", REWRITTEN)
def test_rewritten_texts_give_the_same_expression(text: str) -> None:
    assert expression(text).meta.eq(pl.sql_expr(text))


CALLS = {
    0: ["PI()"],
    1: ["{}(a)", "{}(c)", "{}(s)", "{}('Ab c')", "{}(NULL)", "{}(a + b)"],
    2: ["{}(a, b)", "{}(a, 2)", "{}(2, a)", "{}(c, 2)", "{}(s, t)", "{}(s, 'x')", "{}(s, 2)", "{}(p, q)"],
    3: ["{}(a, b, c)", "{}(s, t, 'x')", "{}(s, 2, 1)", "{}(s, 'x', 2)", "{}(p, a, b)",
        "{}(s, 'x', 'y')", "{}(s, '(?-i)X', 'i')"],
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_those_of_polars(name: str) -> None:
    function = FUNCTIONS[name]
    numbers = [n for n in CALLS if function.least <= n <= function.most]
    calls = [call.format(name) for n in numbers for call in CALLS[n]]
    computed = []
    for call in calls:
        try:
            assert is_unchanged(call), call
        except ValueError:
            continue
        computed.append(value(call))
    assert any(each is not None for each in computed)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_copies_of_arguments_are_those_of_polars(name: str) -> None:
    function = FUNCTIONS[name]
    most = 1
    for number in range(max(function.least, 1), min(function.most, 4) + 1):
        for place in range(number):
            arguments = ["a", "b", "c", "d"][:number]
            arguments[place] = "ABS(zzz)"
            for others in (arguments, [each if "z" in each else "2" for each in arguments]):
                try:
                    output = str(pl.sql_expr(f"{name}({', '.join(others)})"))
                except pl.exceptions.PolarsError:
                    continue
                most = max(most, output.count("zzz"))
    assert most == function.copies


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_refuse_wrong_numbers_of_arguments(name: str) -> None:
    function = FUNCTIONS[name]
    if function.most < MANY:
        with pytest.raises(ValueError, match=f"{name} takes .*argument"):
            rewrite_sql(f"{name}({', '.join('a' * (function.most + 1))})")
    if function.least:
        with pytest.raises(ValueError, match=f"{name} takes .*argument"):
            rewrite_sql(f"{name}({', '.join('a' * (function.least - 1))})")


COLUMNS = sorted(
    {
        column
        for table in vars(schemas).values()
        if isinstance(table, type) and issubclass(table, schemas.Table)
        for column in table.columns()
    }
)


@pytest.mark.parametrize("column", COLUMNS)
def test_columns_of_tables_need_no_quotation_marks(column: str) -> None:
    assert rewrite_sql(f"{column} = 1") == f'"{column}" = 1'
    assert rewrite_sql(f"1 < {column}") == f'1 < "{column}"'


TYPES = (
    "tinyint smallint int2 int integer int4 bigint int8 real float4 float double float8 text "
    "varchar string boolean bool"
)


@pytest.mark.parametrize("name", [*TYPES.split(), "double precision"])
def test_casts_use_the_types_of_polars(name: str) -> None:
    for text in (f"a::{name}", f"CAST(a AS {name})", f"TRY_CAST(a AS {name})"):
        assert expression(text).meta.eq(pl.sql_expr(text))


# Random expressions with few brackets have the meaning that Polars gives the original.

NUMBERS = st.sampled_from(["a", "b", "c", '"a"', "`b`", "0", "1", "-2", "2.5", "1e1", "NULL"])
TEXTS = st.sampled_from(["s", "t", "'x'", "'it''s'", "'\\d'", "''", "' a '", "'%'", "NULL"])
TRUTHS = st.sampled_from(["p", "q", "TRUE", "false", "NULL"])
SPACE = st.sampled_from([" ", "  ", "\n", " /* ' */ ", ' -- "\n'])


@st.composite
def numbers(draw: st.DrawFn, deep: int) -> str:
    if deep == 0:
        return draw(NUMBERS)
    one, two = draw(numbers(deep - 1)), draw(numbers(deep - 1))
    gap = draw(SPACE)
    return draw(
        st.sampled_from([
            *(f"{one}{gap}{sign}{gap}{two}" for sign in ("+", "-", "*", "/", "%")),
            f"-{gap}{one}", f"+{one}" if deep < 0 else f"({one})", f"abs({one})",
            f"LEAST({one}, {two})", f"COALESCE({one}, {two})", f"ROUND({one}, 1)",
            f"LENGTH({draw(texts(deep - 1))})", f"{one}::double",
            f"CASE WHEN {draw(truths(deep - 1))} THEN {one} ELSE {two} END",
            f"CASE {one} WHEN {two} THEN 1 WHEN 2 THEN {one} END",
        ])
    )  # fmt: skip


@st.composite
def texts(draw: st.DrawFn, deep: int) -> str:
    if deep == 0:
        return draw(TEXTS)
    one, two = draw(texts(deep - 1)), draw(texts(deep - 1))
    return draw(
        st.sampled_from([
            f"{one} || {two}", f"{one} || {draw(numbers(deep - 1))}", f"UPPER({one})",
            f"({one})", f"SUBSTR({one}, 1, 2)", f"REPLACE({one}, 'x', '''')", f"{one}::text",
            f"CASE WHEN {draw(truths(deep - 1))} THEN {one} END",
        ])
    )  # fmt: skip


@st.composite
def truths(draw: st.DrawFn, deep: int) -> str:
    if deep == 0:
        return draw(TRUTHS)
    kind = draw(st.sampled_from([numbers, texts]))
    one, two, three = (draw(kind(deep - 1)) for _ in range(3))
    text, this, that = draw(texts(deep - 1)), draw(truths(deep - 1)), draw(truths(deep - 1))
    negated, gap = draw(st.sampled_from(["", "NOT "])), draw(SPACE)
    return draw(
        st.sampled_from([
            *(f"{one} {sign} {two}" for sign in ("=", "==", "<>", "!=", "<", "<=", ">", ">=")),
            f"{one} IS {negated}DISTINCT FROM {two}", f"{one} IS {negated}NULL",
            f"{this} IS {negated}TRUE", f"{one} {negated}IN ({two}, {three})",
            f"{one}{gap}{negated}BETWEEN {two} AND {three}", f"{text} {negated}LIKE 'x%'",
            f"{text} {negated}ILIKE '_'", f"{text} ~ '^\\w'", f"{text} !~ 'x'", f"{text} !~* 'X'",
            f"REGEXP_LIKE({text}, 'x', 'i')", f"NOT{gap}{this}", f"({this})",
            f"{this} AND{gap}{that}", f"{this}{gap}OR {that}", f"{this} = {that}",
        ])
    )  # fmt: skip


@example("(p AND a IS DISTINCT FROM b) OR q")
@example("p OR a IS DISTINCT FROM b")
@example("a IS DISTINCT FROM b OR p")
@example("p AND NOT a IS NOT DISTINCT FROM b OR q")
@given(st.integers(1, 4).flatmap(lambda deep: st.one_of(numbers(deep), texts(deep), truths(deep))))
def test_rewritten_random_texts_mean_the_same(sql: str) -> None:
    reason = refusal(sql)
    # Of these, only texts that two parsers may bind differently are refused.
    assert not reason or "it is ambiguous" in reason
    assume(not reason)
    assert is_unchanged(sql)


# From any text, Polars receives only names, values and allowed words, or nothing.

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


def parts(text: str) -> set[str]:
    """Return the words of a text other than names, texts and numbers: a scanner, no parser."""
    bare = NUMBER.sub(" ", QUOTED.sub(" ", text))
    return set(re.findall(r"\w+|[(),]|[^\w\s(),]+", bare))


def check(text: str) -> None:
    try:
        output = rewrite_sql(text)
    except ValueError:
        return
    minus = {each.rstrip("-") or "-" for each in parts(output)}  # the sign of a number
    assert minus <= KEYWORDS | SIGNS | set(FUNCTIONS), output
    assert not {"DISTINCT", "FROM"} & parts(output) or "DISTINCT FROM" in output
    try:
        polars_expression = pl.sql_expr(output)
    except pl.exceptions.PolarsError:
        return
    assert "subplan" not in str(polars_expression).lower()


@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))
@example("form = 'x' -- ' OR form IN (SELECT 1)\n")
@example('`a" = 1 OR EXISTS (SELECT 1) --` = 1')
@example("'\\' = form OR EXISTS (SELECT 1) -- '")
def test_random_words_of_sql_are_safe(text: str) -> None:
    check(text)


@given(st.text(max_size=40))
def test_any_text_is_safe(text: str) -> None:
    check(text)


@given(st.text(max_size=20), st.text(min_size=1, max_size=20))
def test_texts_and_names_are_unchanged(text: str, name: str) -> None:
    quoted = "'{}'".format(text.replace("'", "''"))
    assert pl.select(pl.sql_expr(rewrite_sql(quoted)).alias("x")).item() == text
    if name != "*" and not (name.startswith("^") and name.endswith("$")):
        column = '"{}"'.format(name.replace('"', '""'))
        assert pl.sql_expr(rewrite_sql(column)).meta.root_names() == [name]


# Texts that are refused before Polars sees them, and their messages.

HOSTILE = {
    "form IN (SELECT x FROM read_csv('/etc/passwd'))": r"READ_CSV is not an allowed function.*column 24\)",
    "form IN (SELECT x FROM read_parquet('http://localhost/x'))": "READ_PARQUET is not an allowed function",
    "form IN (SELECT * FROM '/etc/passwd')": "IN with a subquery",
    "f > (SELECT 1)": "a subquery is not allowed",
    "EXISTS (TABLE tokens)": "EXISTS is not an allowed function",
    "EXISTS (SELECT 1 FROM tokens)": "a subquery is not allowed",
    "(WITH x AS (SELECT 1) SELECT * FROM x)": "is not allowed",
    "f = ANY (SELECT 1)": "any is not allowed",
    "LENGTH(LPAD(form, 1000000000, 'x')) > 1": "LPAD is not an allowed function",
    "RPAD(form, 1000000000) = 'x'": r"RPAD is not an allowed function",
    "f > 1; DROP TABLE tokens": "more than one expression|cannot be parsed at",
    "DROP TABLE tokens": "cannot be parsed at 'DROP'",
    "SELECT 1": "cannot be parsed|is not allowed",
    "COPY tokens TO 'x'": "cannot be parsed at 'tokens'",
    "LIST_FILTER(f, x -> x > 1)": "LIST_FILTER is not an allowed function",
    "LEAST(f, x -> x > 1)": "a lambda is not allowed",
    "COLUMNS('.*') = 1": "COLUMNS is not an allowed function",
    '"^.*$" = 1': "is not a column name",
    '"*" = 1': "is not a column name",
    "* = 1": r"\* is not allowed",
    "tokens.form = 'x'": "a name with a dot",
    "form[1] = 'x'": "an index is not allowed",
    "UNNEST(f) = 1": "UNNEST is not an allowed function",
    "GENERATE_SERIES(1, 1000000000) = f": "GENERATE_SERIES is not an allowed function",
    "ARRAY[1, 2] = f": "array is not allowed",
    "$1 = f": "a parameter is not allowed",
    "f = ?": "a parameter is not allowed",
    "f = :name": "a parameter is not allowed",
    "E'\\x41' = form": "not in single quotation marks",
    "$$x$$ = form": "not in single quotation marks",
    "form = X'41'": "not in single quotation marks",
    "form = 0x41": "not in single quotation marks",
    "form = 'a' 'b'": "two adjacent texts",
    "form = 'a": "a quotation mark or comment is not closed",
    "form /* = 'a'": "a quotation mark or comment is not closed",
    "CAST(f AS DATE) = 1": "a cast to DATE is not allowed; use TINYINT",
    "f::varchar(3) = 'x'": r"a cast to VARCHAR\(3\) is not allowed",
    "f::int[] = 1": "a cast to .* is not allowed",
    "f ^ 2 = 1": "POW gives powers",
    "f & 1 = 1": "bitwise and is not allowed",
    "ABS(f) OVER (PARTITION BY g) = 1": r"a window function \(OVER\)",
    "ABS(DISTINCT f) = 1": "distinct is not allowed",
    "ABS(f ORDER BY g) = 1": "order is not allowed",
    "ABS(f) FILTER (WHERE g) = 1": "filter is not allowed",
    "ABS(x => 1) = 1": "kwarg is not allowed",
    "pg.abs(f) = 1": "dot is not allowed",
    '"abs"(f) = 1': "function names in quotation marks",
    "REGEXP_LIKE(form, lemma)": "takes texts in single quotation marks",
    "form ~ lemma": "takes a text in single quotation marks",
    "form LIKE lemma": "takes a text in single quotation marks",
    "form LIKE 'a!%' ESCAPE '!'": "escape is not allowed",
    "form ~ '('": "not a valid regular expression: unclosed group",
    "form ~ '(\\pL{500}){500}'": "not a valid regular expression: it is too large",
    "REGEXP_LIKE(form, '(\\pL{500}){500}')": "not a valid regular expression: it is too large",
    "REPLACE(form, 'x', 'xxxxxxxx') = ''": "must not be longer than the text",
    "REPLACE(form, lemma, form) = ''": "takes texts in single quotation marks",
    "f = 1 = g": "it is ambiguous; add brackets",
    "form || f + 1 = 'x'": "it is ambiguous; add brackets",
    "f + 1 IS DISTINCT FROM g IS TRUE": "it is ambiguous; add brackets",
    "f = g IS TRUE": "it is ambiguous; add brackets",
    "f IN g": "IN with a subquery or without a list",
    "f > ": r"cannot be parsed at '>' \(column 3\)",
    "f = 1 AND\n(g > 2 h": r"cannot be parsed at 'h' \(line 2, column 8\)",
    "": "it is empty",
    "-- f": "it is empty",
    "STARTSWITH(form, 'x')": "allowed are STARTS_WITH, ABS",
    "CURRENT_TIMESTAMP()": "CURRENT_TIMESTAMP is not an allowed function",
    "GREATEST() = 1": "GREATEST takes 1 to 100 arguments, not 0",
    "SUM(f) > 1": r"is not an expression of a single row: SUM needs many rows \(column 1\)",
    "f > AVG(f)": r"is not an expression of a single row: AVG needs many rows \(column 5\)",
    "FIRST_VALUE(f) OVER () = 1": "is not an expression of a single row",
}


@pytest.fixture
def no_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(sql: str) -> NoReturn:
        pytest.fail(f"Polars was given {sql!r}")

    monkeypatch.setattr(pl, "sql_expr", refuse)


@pytest.mark.usefixtures("no_polars")
@pytest.mark.parametrize(("text", "message"), HOSTILE.items())
def test_hostile_texts_are_refused_before_polars_sees_them(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        expression(text)


def test_the_allowed_functions_are_named() -> None:
    with pytest.raises(ValueError, match="not an allowed function") as error:
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
def test_too_large_texts_are_refused(case: str) -> None:
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
def test_polars_reads_texts_within_the_depth_limit(case: str) -> None:
    before, middle, after = ENDS[case]
    texts = [before * deep + middle + after * deep for deep in range(1, 2 * DEEPEST)]
    allowed = [text for text in texts if not refusal(text)]
    assert DEEPEST // 6 < len(allowed) < len(texts)
    for text in allowed:
        pl.sql_expr(rewrite_sql(text))


@pytest.mark.parametrize("row", ["f = 1 OR ", "g || ", "f + ", "f * ", "p AND "])
def test_the_longest_rows_are_computed(row: str) -> None:
    longest = MOST // 2 if "=" in row else MOST
    rows = pl.DataFrame({"f": [1, 2], "g": ["a", "b"], "p": [True, False]})
    whole = expression((row * longest).rstrip(" OR|+*AND"))
    assert rows.lazy().select(whole).collect().height == 2
    with pytest.raises(ValueError, match="more than"):
        expression((row * (longest + 3)).rstrip(" OR|+*AND"))


# Every condition and formula of the repository is read as by Polars.

ROOT = Path(__file__).parents[2]
FOLDERS = ("configs", "docs", "pipeline", "tests", "benchmarks", "data")
OWN = Path(__file__).parent
KEYS = r"(?:where|through|attach|formulas|formula|prep|prt|p|third|mine|share|x)"
OPERATORS = re.compile(r"[=<>(*/]|\b(IS|IN|LIKE|BETWEEN)\b")
CONDITION_IN_CODE = re.compile(KEYS + r"""["']?\s*[=:]\s*f?"((?:[^"\\\n]|\\.)*)\"""")


def texts_used_today() -> list[str]:
    """Return all conditions and formulas in the repository that Polars accepts as SQL."""
    files = [ROOT / "README.md", *(path for each in FOLDERS for path in (ROOT / each).rglob("*"))]
    texts_: set[str] = set()
    for path in files:
        if path.suffix in {".toml", ".md", ".py"} and not path.is_relative_to(OWN):
            texts_ |= set(CONDITION_IN_CODE.findall(path.read_text(encoding="utf-8")))
    return sorted(filter(_is_sql, (text.replace(r"\\", "\\") for text in texts_)))


def _is_sql(text: str) -> bool:
    try:
        names = pl.sql_expr(text).meta.root_names()
    except pl.exceptions.PolarsError:
        return False
    return bool(names) and OPERATORS.search(text) is not None


SOME_TEXTS = {
    "upos = 'NOUN'",
    "upos NOT IN ('PUNCT', 'SYM', 'X')",
    "pos = 'ADJA' AND lemma <> '<unknown>'",
    "f >= 50 AND f > 0.1 * LEAST(f1, f2)",
    "log10((o / f_12) / (f3 / N))",
    "o11 * ln(o11 / e11)",
    "n IN (500, 1000)",
}
OF_MANY_ROWS = {"SUM(o11)", "AVG(o11)"}


def test_expressions_of_the_repository_are_found() -> None:
    assert set(texts_used_today()) >= SOME_TEXTS


@pytest.mark.parametrize("text", [text for text in texts_used_today() if text not in OF_MANY_ROWS])
def test_expressions_of_the_repository_are_those_of_polars(text: str) -> None:
    assert expression(text).meta.eq(pl.sql_expr(text))
