"""What may be written, and what Polars is given for it."""

from __future__ import annotations

import polars as pl
import pytest

import schemas
from pipeline.expressions import FUNCTIONS, expression, rewritten
from pipeline.expressions.functions import MANY
from tests.expressions.frames import is_kept, value

WRITTEN = {
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


@pytest.mark.parametrize(("text", "written"), WRITTEN.items())
def test_the_text_is_written_anew(text: str, written: str) -> None:
    assert rewritten(text) == written
    assert rewritten(written) == written


@pytest.mark.parametrize("text", WRITTEN)
def test_polars_makes_the_same_expression_of_it(text: str) -> None:
    assert expression(text).meta.eq(pl.sql_expr(text))


CALLS = {
    0: ["PI()"],
    1: ["{}(a)", "{}(c)", "{}(s)", "{}('Ab c')", "{}(NULL)", "{}(a + b)"],
    2: ["{}(a, b)", "{}(a, 2)", "{}(2, a)", "{}(c, 2)", "{}(s, t)", "{}(s, 'x')", "{}(s, 2)", "{}(p, q)"],
    3: ["{}(a, b, c)", "{}(s, t, 'x')", "{}(s, 2, 1)", "{}(s, 'x', 2)", "{}(p, a, b)",
        "{}(s, 'x', 'y')", "{}(s, '(?-i)X', 'i')"],
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_what_polars_has(name: str) -> None:
    function = FUNCTIONS[name]
    numbers = [n for n in CALLS if function.least <= n <= function.most]
    calls = [call.format(name) for n in numbers for call in CALLS[n]]
    computed = []
    for call in calls:
        try:
            assert is_kept(call), call
        except ValueError:
            continue
        computed.append(value(call))
    assert any(each is not None for each in computed)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_how_often_polars_writes_out_an_argument(name: str) -> None:
    function = FUNCTIONS[name]
    most = 1
    for number in range(max(function.least, 1), min(function.most, 4) + 1):
        for place in range(number):
            given = ["a", "b", "c", "d"][:number]
            given[place] = "ABS(zzz)"
            for others in (given, [each if "z" in each else "2" for each in given]):
                try:
                    made = str(pl.sql_expr(f"{name}({', '.join(others)})"))
                except pl.exceptions.PolarsError:
                    continue
                most = max(most, made.count("zzz"))
    assert most == function.copies


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_takes_as_many_arguments_as_it_may(name: str) -> None:
    function = FUNCTIONS[name]
    if function.most < MANY:
        with pytest.raises(ValueError, match=f"{name} takes .*argument"):
            rewritten(f"{name}({', '.join('a' * (function.most + 1))})")
    if function.least:
        with pytest.raises(ValueError, match=f"{name} takes .*argument"):
            rewritten(f"{name}({', '.join('a' * (function.least - 1))})")


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
    assert rewritten(f"{column} = 1") == f'"{column}" = 1'
    assert rewritten(f"1 < {column}") == f'1 < "{column}"'


TYPES = (
    "tinyint smallint int2 int integer int4 bigint int8 real float4 float double float8 text "
    "varchar string boolean bool"
)


@pytest.mark.parametrize("name", [*TYPES.split(), "double precision"])
def test_a_cast_is_to_the_type_that_polars_knows_by_that_name(name: str) -> None:
    for text in (f"a::{name}", f"CAST(a AS {name})", f"TRY_CAST(a AS {name})"):
        assert expression(text).meta.eq(pl.sql_expr(text))
