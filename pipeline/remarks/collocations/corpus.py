"""Remarks on a corpus that is not cut into documents or sentences."""

from __future__ import annotations

import polars as pl

from pipeline.remarks.base import Found, Look, check
from pipeline.remarks.remark import remark

COUNTING = ("extract.pairs", "extract.tuples")


WORDS = "extract.words"


@check(stages=(*COUNTING, WORDS), threshold=2, means="documents")
def one_document(look: Look, threshold: float) -> Found:
    """Find a corpus with fewer documents: dispersion says nothing of it."""
    sizes = _sizes(look)
    documents = sizes.get("documents", 0)
    if not sizes.get("tokens") or documents >= threshold:
        return
    whole = getattr(look.config, "text_unit", "sentence") == "document"
    effect = (
        "N counts documents, so every pair has f = f1 = f2 = N"
        if whole
        else "no word has a dispersion: dp, dp_norm and juilland_d are empty"
        if look.use == WORDS
        else "the column documents cannot tell a pair of one text from one of the language"
    )
    yield remark(
        "warning" if whole else "info",
        f"the corpus has {documents:,} document(s): {effect}",
        remedy="mark documents in it (# newdoc, <doc>, a column doc), or give a file for each",
        documents=documents,
    )


@check(stages=COUNTING, threshold=100, means="tokens in a sentence on average")
def long_sentences(look: Look, threshold: float) -> Found:
    """Find sentences so long that the text has probably not been cut into sentences."""
    sizes = _sizes(look)
    tokens, sentences = sizes.get("tokens", 0), sizes.get("sentences", 0)
    if not sentences or tokens / sentences < threshold:
        return
    yield remark(
        "warning",
        f"the corpus has {tokens:,} tokens in {sentences:,} sentence(s), {tokens / sentences:,.0f}"
        " in one on average: pairs of a sentence may be pages apart",
        remedy='mark the sentences, or count by a window: relation = "surface"',
        tokens=tokens,
        sentences=sentences,
    )


@check(stages=COUNTING, threshold=1, means="sentences of 1,000 tokens or more")
def endless_sentences(look: Look, threshold: float) -> Found:
    """Count sentences of a thousand tokens: lists, tables, or text that has not been cut."""
    found = _sizes(look).get("sentences of 1,000 tokens or more", 0)
    if found >= threshold:
        yield remark(
            "note",
            f"{found:,} sentence(s) of the corpus have 1,000 tokens or more: the pairs of one grow"
            " with the square of its length",
            remedy='cut them, or count by a window: relation = "surface"',
            sentences=found,
        )


def _sizes(look: Look) -> dict[str, int]:
    return dict(
        look.outputs["corpus"].select(pl.col("what"), pl.col("count")).collect().iter_rows()
    )
