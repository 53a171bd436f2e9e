"""Spans across sentences: the counts equal those by hand, in batches of any size."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.cooccurrence.tokens import Unit, number_tokens
from pipeline.stages.collocations.extract_corpus import (
    RelationOptions,
    find_pairs,
    span_context,
)

WORD = Unit(pl.col("form") != ".", "{form}")
NODE = Unit(pl.col("form").is_in(["a", "b"]), "{form}")

words = st.lists(st.sampled_from([*"aabcd", "."]), min_size=1, max_size=6)
documents = st.lists(st.lists(st.lists(words, min_size=1, max_size=3), min_size=1, max_size=3),
                     min_size=1, max_size=3)  # fmt: skip
Document = list[list[list[str]]]


def sentence_frames(corpus: list[Document]) -> list[pl.DataFrame]:
    """Return the tokens of each sentence: documents of paragraphs of sentences, in one file."""
    frames: list[pl.DataFrame] = []
    paragraph = 0
    for number, document in enumerate(corpus):
        for sentences in document:
            paragraph += 1
            for forms in sentences:
                place = {"file": "f", "doc": f"d{number}", "paragraph": paragraph}
                rows = {"position": range(1, len(forms) + 1), "form": forms}
                frames.append(
                    pl.DataFrame({**rows}).with_columns(
                        sentence=pl.lit(len(frames) + 1), **{k: pl.lit(v) for k, v in place.items()}
                    )
                )
    return frames


def spans(corpus: list[Document], within: str) -> Iterator[list[str]]:
    for document in corpus:
        if within == "document":
            yield [form for sentences in document for forms in sentences for form in forms]
        else:
            yield from ([form for forms in each for form in forms] for each in document)


def by_hand(
    corpus: list[Document], within: str, left: int, right: int, count: str
) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Return f, and f1 if positions are counted."""
    f: Counter[tuple[str, str]] = Counter()
    f1: Counter[str] = Counter()
    for forms in spans(corpus, within):
        documents: defaultdict[str, set[int]] = defaultdict(set)
        for at, node in enumerate(forms):
            if node not in "ab":
                continue
            near = [p for p in range(at - left, at + right + 1) if p != at and 0 <= p < len(forms)]
            if count == "positions":
                near = [p for p in near if p > max(documents[node], default=-1)]
                documents[node] |= {*range(at - left, at + right + 1)}
                f1[node] += len(near)
            others = [forms[p] for p in near if forms[p] != "."]
            f.update((node, other) for other in ({*others} if count == "nodes" else others))
    return f, f1


@pytest.mark.parametrize("count", ["positions", "windows", "nodes"])
@pytest.mark.parametrize("within", ["paragraph", "document"])
@given(
    corpus=documents, reach=st.tuples(st.integers(0, 4), st.integers(1, 4)), size=st.integers(1, 4)
)
def test_spans_across_sentences_equal_counts_by_hand(
    within: str, count: str, corpus: list[Document], reach: tuple[int, int], size: int
) -> None:
    surface = {"left": reach[0], "right": reach[1], "count": count, "within": within}
    options = RelationOptions.model_validate({"relation": "surface", "surface": surface})
    frames = sentence_frames(corpus)
    f: Counter[tuple[str, str]] = Counter()
    sides: dict[int, Counter[str]] = {1: Counter(), 2: Counter()}
    total, context = 0, pl.DataFrame()
    for at in range(0, len(frames), size):
        batch = pl.concat(frames[at : at + size])
        tokens = number_tokens(batch.lazy(), in_order=True).collect()
        for result in find_pairs(tokens, left=NODE, right=WORD, options=options, context=context):
            f.update(result.pairs.select(pl.col("l1", "l2").cast(pl.String)).rows())
            for side, unit, number in result.marginals.collect().rows():
                sides[side][str(unit)] += number
            total += result.total
        context = span_context(context, tokens, options)
    slow, f1 = by_hand(corpus, within, *reach, count)
    assert f == slow
    forms = Counter(form for each in frames for form in each["form"])
    if count == "positions":
        assert +sides[1] == +f1
    if count == "nodes":
        assert sides[1] == Counter({each: forms[each] for each in "ab" if forms[each]})
    if count != "windows":
        assert sides[2] == Counter({each: n for each, n in forms.items() if each != "."})
        assert total == sum(forms.values())


def test_tuples_do_not_cross_sentences() -> None:
    from pipeline.stages.collocations.extract_tuples import ExtractTuples

    surface = {"count": "windows", "within": "document"}
    unit = {"label": "{form}"}
    stage = {"corpus": {"path": "x.txt"}, "relation": "surface", "surface": surface}
    with pytest.raises(ValueError, match='within = "document" is for pairs'):
        ExtractTuples.model_validate({**stage, "left": unit, "right": unit})
