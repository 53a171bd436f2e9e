"""Annotated multiword expressions: tokens, types and the pairs within them."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.cooccurrence.pairs import TOKEN_1, TOKEN_2
from pipeline.kernels.cooccurrence.tokens import PLACE, TOKEN

NONE = ("*", "_")
"""Codes of tokens outside expressions."""
_CODE = r"^([0-9]+)(?::(.*))?$"
_PLACE_IN_IT = r"^[0-9]+$"


def is_code(code: pl.Expr) -> pl.Expr:
    """Return true for valid expression codes, including those of tokens outside expressions.

    Examples
    --------
    >>> codes = pl.DataFrame({"code": ["1:VID", "1;2:LVC.full", "3:2", "*", None, "VID", "1;"]})
    >>> codes.select(is_code(pl.col("code"))).to_series().to_list()
    [True, True, True, True, True, False, False]
    """
    one = r"[0-9]+(?::[^;:\s]+)?"
    numbered = code.str.contains(rf"^{one}(?:;{one})*$")
    return code.is_null() | code.is_in(list(NONE)) | numbered


def expression_tokens(
    tokens: pl.DataFrame, *, numbers: str, types: str | None = None
) -> pl.DataFrame:
    """Return the tokens of expressions with two or more tokens.

    Parameters
    ----------
    tokens : DataFrame
        As `number_tokens` gives them, with the attributes.
    numbers : str
        The attribute that numbers the expressions of each sentence: "1" or "1:VID" as PARSEME
        has it, the type on one of its tokens; "1:2" as STREUSLE has it, the place within the
        expression; several with ";" between.
    types : str, optional
        The attribute with the type, on the first token of an expression; that of the code if not
        given.

    Returns
    -------
    DataFrame
        `TOKEN`, ``expression`` (which tokens of one expression share) and ``type``, null where
        there is none; a row for each token and expression.

    References
    ----------
    Savary et al. 2017, The PARSEME Shared Task; Schneider & Smith 2015, A Corpus and Model
    Integrating Multiword Expressions and Supersenses.

    Examples
    --------
    >>> from pipeline.kernels.cooccurrence.tokens import number_tokens
    >>> rows = {"file": ["f"] * 4, "sentence": [1] * 4, "position": [1, 2, 3, 4]}
    >>> codes = pl.LazyFrame({**rows, "mwe": ["1:LVC.full", "*", "1;2:VPC", "2"]})
    >>> expression_tokens(number_tokens(codes).collect(), numbers="mwe").rows()
    [(0, 0, 'LVC.full'), (2, 0, 'LVC.full'), (2, 1, 'VPC'), (3, 1, 'VPC')]
    """
    code = pl.col("code").str.extract_groups(_CODE)
    given = pl.col(types) if types else pl.lit(None, pl.String())
    coded = tokens.lazy().select(TOKEN, PLACE, code=pl.col(numbers).str.split(";"), given=given)
    coded = coded.explode("code").filter(pl.col("code").str.contains(_CODE))
    rest = code.struct[1]
    own = pl.col("given") if types else pl.when(~rest.str.contains(_PLACE_IN_IT)).then(rest)
    key = (PLACE, "number")
    numbered = coded.select(TOKEN, PLACE, number=code.struct[0].cast(pl.Int64), type=own)
    first = pl.col("type").first() if types else pl.col("type").drop_nulls().first()
    known = numbered.sort(TOKEN, "number").with_columns(
        first.over(key).alias("type"),
        pl.col(TOKEN).n_unique().over(key).alias("size"),
        pl.struct(key).rank("dense").cast(pl.Int64).alias("expression"),
    )
    several = known.filter(pl.col("size") > 1).select(TOKEN, "expression", "type")
    return several.with_columns(pl.col("expression").rank("dense").cast(pl.Int64) - 1).collect()


def pairs_in_expressions(pairs: pl.DataFrame, members: pl.DataFrame) -> pl.DataFrame:
    """Return the pair tokens within one expression, with its type.

    Parameters
    ----------
    pairs : DataFrame
        Pair tokens with `TOKEN_1` and `TOKEN_2`, and any other columns.
    members : DataFrame
        As `expression_tokens` gives them.

    Returns
    -------
    DataFrame
        The columns of the pairs, ``pair`` (the number of the pair token among them), ``type``; a
        row for each expression that holds both.

    Examples
    --------
    >>> pairs = pl.DataFrame({"token_1": [0, 0], "token_2": [1, 2]})
    >>> members = pl.DataFrame({"token": [0, 2], "expression": [7, 7], "type": ["VID"] * 2})
    >>> pairs_in_expressions(pairs, members).rows()
    [(0, 2, 1, 'VID')]
    """
    numbered = pairs.lazy().with_row_index("pair")
    one = members.lazy().rename({TOKEN: TOKEN_1})
    two = members.lazy().select(pl.col(TOKEN).alias(TOKEN_2), "expression")
    both = numbered.join(one, on=TOKEN_1).join(two, on=[TOKEN_2, "expression"])
    return both.select(*pairs.columns, pl.col("pair").cast(pl.Int64), "type").collect()
