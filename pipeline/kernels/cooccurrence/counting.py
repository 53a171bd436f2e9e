"""Counts of occurrences: frequencies and document frequencies of types.

Each row is an occurrence: the labels of a type as Categorical columns, and the number of its
document. Documents that may continue beyond these rows are counted separately, so that they count
once when parts are summed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from pipeline import memory
from pipeline.kernels.cooccurrence.tokens import PLACE
from pipeline.kernels.partitions import batches
from pipeline.kernels.sampling import candidate_id

# Packed keys: several small integers in one, cheap to group by

_BITS = 64


@dataclass(frozen=True)
class Packing:
    """Where the number of each position lies in as few 64-bit words as hold them in order.

    Parameters
    ----------
    places : tuple of (int, int, int)
        For each position the word, the first bit in it, and how many bits.
    """

    places: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Packing:
        """Return a packing for numbers from 0 to size - 1.

        Parameters
        ----------
        sizes : sequence of int
            How many numbers there are at each position.

        Examples
        --------
        >>> Packing.of([1000, 1000, 2**60]).places
        ((0, 0, 10), (0, 10, 10), (1, 0, 60))
        """
        places, word, free = [], 0, 0
        for size in sizes:
            bits = max(1, (size - 1).bit_length())
            if free + bits > _BITS:
                word, free = word + 1, 0
            places.append((word, free, bits))
            free += bits
        return cls(tuple(places))

    @property
    def names(self) -> list[str]:
        """The names of the words."""
        return [f"_word_{word}" for word in sorted({word for word, _, _ in self.places})]

    def words(self, codes: Sequence[pl.Expr]) -> list[pl.Expr]:
        """Return the words that hold the numbers of all positions.

        Parameters
        ----------
        codes : sequence of Expr
            The number at each position.
        """
        by_word: dict[int, pl.Expr] = {}
        for code, (word, first, _) in zip(codes, self.places, strict=True):
            shifted = code.cast(pl.UInt64) * pl.lit(2**first, pl.UInt64)
            by_word[word] = by_word[word] + shifted if word in by_word else shifted
        return [each.alias(name) for each, name in zip(by_word.values(), self.names, strict=True)]

    def part(self, positions: Collection[int]) -> list[pl.Expr]:
        """Return the words with the numbers of some positions alone, the others 0.

        Parameters
        ----------
        positions : collection of int
            Which, from 0.

        Examples
        --------
        >>> two = Packing.of([4, 4])
        >>> words = pl.DataFrame({"a": [1], "b": [2]}).select(two.words([pl.col("a"), pl.col("b")]))
        >>> words.item(), words.select(two.part([1])).item()
        (9, 8)
        """
        masks: dict[int, int] = {}
        for position in sorted(positions):
            word, first, bits = self.places[position]
            masks[word] = masks.get(word, 0) | ((2**bits - 1) << first)
        return [
            (pl.col(f"_word_{word}") & pl.lit(mask, pl.UInt64)).alias(f"_part_{word}")
            for word, mask in masks.items()
        ]


def pack(frame: pl.DataFrame, columns: Sequence[str]) -> tuple[pl.DataFrame, Packing]:
    """Return the words of text or Categorical columns, and how they are packed.

    Parameters
    ----------
    frame : DataFrame
        With these columns, String or Categorical, without nulls.
    columns : sequence of str
        Their names, one a position.

    Examples
    --------
    >>> words, packing = pack(pl.DataFrame({"a": ["x", "y"], "b": ["u", "u"]}), ["a", "b"])
    >>> words.height, packing.names
    (2, ['_word_0'])
    """
    codes = frame.select(integer_codes(name, frame.schema[name]) for name in columns)
    sizes = [1 + int(number or 0) for number in codes.max().row(0)]
    packing = Packing.of(sizes)
    return codes.select(packing.words([pl.col(name) for name in columns])), packing


def integer_codes(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return a text or Categorical column as whole numbers."""
    column = pl.col(name)
    labels = column.cast(pl.Categorical(pl.Categories.random())) if dtype == pl.String else column
    return labels.to_physical()


_WORD = "_word"

DOCUMENT = "document"
"""Column with the number of a document in the batch; null for complete documents."""


def tally(
    occurrences: pl.DataFrame, key: Sequence[str], *, across: Collection[int] = ()
) -> pl.DataFrame:
    """Count the occurrences of each type, and the documents with it.

    Parameters
    ----------
    occurrences : DataFrame
        The key and `DOCUMENT` (UInt32).
    key : sequence of str
        The columns of a type, Categorical.
    across : collection of int
        The numbers of documents that may continue outside the batch.

    Returns
    -------
    DataFrame
        The key, f and documents (Int64), `DOCUMENT`: a row for each type with all documents that
        lie inside, `DOCUMENT` null, and one for each that may go on.

    Examples
    --------
    >>> rows = {"unit": ["a", "b", "a", "a"], "document": [0, 0, 0, 1]}
    >>> types = {"unit": pl.Categorical, "document": pl.UInt32}
    >>> tally(pl.DataFrame(rows, schema=types), ["unit"]).rows()
    [('a', 3, 2, None), ('b', 1, 1, None)]
    >>> tally(pl.DataFrame(rows, schema=types), ["unit"], across=[1]).rows()
    [('a', 2, 1, None), ('b', 1, 1, None), ('a', 1, 1, 1)]
    """
    coding = _Coding.of(occurrences, key)
    if not coding.fits:
        return _tally_by_group(occurrences, key, across)
    counted = coding.counts(occurrences)
    if not across:
        return _sum_types(coding, counted)
    open_ = coding.document().is_in(list(across))
    one, document = pl.lit(1, pl.Int64).alias("documents"), coding.document().alias(DOCUMENT)
    apart = counted.filter(open_).select(*coding.labels(coding.types()), "f", one, document)
    return pl.concat([_sum_types(coding, counted.filter(~open_)), apart])


@dataclass(frozen=True)
class _Coding:
    """Types and documents as one number each, the document in its lowest bits."""

    key: Sequence[str]
    types_of_key: Sequence[pl.DataType]
    packing: Packing
    first: int

    @classmethod
    def of(cls, occurrences: pl.DataFrame, key: Sequence[str]) -> _Coding:
        """Return one that has room for what these rows hold."""
        codes = occurrences.select(pl.col(name).to_physical().max() for name in key).row(0)
        first, last = occurrences.select(
            first=pl.col(DOCUMENT).min().fill_null(0), last=pl.col(DOCUMENT).max().fill_null(0)
        ).row(0)
        sizes = [1 + last - first, *(1 + (code or 0) for code in reversed(codes))]
        return cls(key, [occurrences.schema[name] for name in key], Packing.of(sizes), first)

    @property
    def fits(self) -> bool:
        """Whether one number of 64 bits holds all."""
        return len(self.packing.names) == 1

    def counts(self, occurrences: pl.DataFrame) -> pl.DataFrame:
        """Return each number that occurs, in order, as `_WORD`, and how often it does as f."""
        labels = [pl.col(name).to_physical() for name in reversed(self.key)]
        words = self.packing.words([pl.col(DOCUMENT) - self.first, *labels])
        return _run_lengths(occurrences.select(words).to_series().sort())

    def types(self) -> pl.Expr:
        """Return the numbers without the documents."""
        return pl.col(_WORD) // pl.lit(2 ** self.packing.places[0][2], pl.UInt64)

    def document(self) -> pl.Expr:
        """Return the numbers of the documents."""
        low = pl.lit(2 ** self.packing.places[0][2] - 1, pl.UInt64)
        return (pl.col(_WORD) & low).cast(pl.UInt32) + self.first

    def labels(self, types: pl.Expr) -> list[pl.Expr]:
        """Return the key of numbers without the documents."""
        bits = self.packing.places[0][2]
        places = [(first - bits, size) for _, first, size in reversed(self.packing.places[1:])]
        return [
            ((types // pl.lit(2**first, pl.UInt64)) & pl.lit(2**size - 1, pl.UInt64))
            .cast(pl.UInt32)
            .cat.to(dtype)
            .alias(name)
            for name, dtype, (first, size) in zip(self.key, self.types_of_key, places, strict=True)
        ]


def _sum_types(coding: _Coding, counted: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each type, from the sums by type and document."""
    types = _run_lengths(counted.select(coding.types()).to_series())
    documents = types.get_column("f").rename("documents")
    f = counted.get_column("f")
    if types.height < counted.height:  # some types are in several documents
        sums = f.cum_sum().gather(documents.cum_sum() - 1)
        f = sums.diff().fill_null(sums.first())
    rows = types.select(coding.labels(pl.col(_WORD))).with_columns(f, documents)
    return rows.with_columns(pl.lit(None, pl.UInt32).alias(DOCUMENT))


def _run_lengths(ordered: pl.Series) -> pl.DataFrame:
    """Return each number of a series in order, and how often it stands there as f."""
    runs = ordered.rle().struct.unnest()
    return runs.select(pl.col("value").alias(_WORD), f=pl.col("len").cast(pl.Int64))


def _tally_by_group(
    occurrences: pl.DataFrame, key: Sequence[str], across: Collection[int]
) -> pl.DataFrame:
    """Do what `tally` does where no number is large enough: several are."""
    words = pack(occurrences, key)[0]
    first, number = [pl.col(name).first() for name in key], pl.len().cast(pl.Int64)
    rows = pl.concat([occurrences, words], how="horizontal").lazy()
    by_document = rows.group_by(*words.columns, DOCUMENT).agg(*first, f=number)
    document = pl.col(DOCUMENT)
    apart = pl.when(document.is_in(list(across))).then(document).alias(DOCUMENT)
    grouped = by_document.with_columns(apart).group_by(*words.columns, DOCUMENT)
    counts = grouped.agg(*first, pl.sum("f"), documents=number).collect()
    return counts.select(*key, "f", "documents", DOCUMENT)


# Documents: a run of sentences under one name in one file, identified by its first sentence, so
# that it stays one document across batches

START = "start"
"""Column with the first sentence of a document in its file."""
KNOWN_BY = ["file", START]
"""What a document is known by."""
OPEN = pl.Schema(
    {"file": pl.String(), "doc": pl.String(), START: pl.Int64(), DOCUMENT: pl.UInt32()}
)
"""The document that may go on, and its number among those of a task."""


def sentences(tokens: pl.LazyFrame, before: pl.DataFrame) -> pl.DataFrame:
    """Return the sentences of a batch with the documents that they are in.

    Parameters
    ----------
    tokens : LazyFrame
        As `tokens.number_tokens` gives them, with file and doc.
    before : DataFrame
        What the batch before left `OPEN`; nothing for the first.

    Returns
    -------
    DataFrame
        `PLACE`, file, doc, `START` and `DOCUMENT`, in order.

    Examples
    --------
    >>> rows = {"place": [0, 1], "position": [1, 1], "sentence": [7, 8], "file": ["f"] * 2}
    >>> batch = pl.LazyFrame({**rows, "doc": ["x", "y"]})
    >>> before = pl.DataFrame([("f", "x", 5, 2)], OPEN, orient="row")
    >>> sentences(batch, before).select("start", "document").rows()
    [(5, 2), (8, 3)]
    """
    first = tokens.filter(pl.col("position") == 1)
    rows = first.select(PLACE, "file", "doc", pl.col("sentence").alias(START)).collect()
    changes = [pl.col(name) != pl.col(name).shift() for name in ("file", "doc")]
    run = rows.select(pl.any_horizontal(changes).fill_null(value=False).cum_sum()).to_series()
    begins = rows.get_column(START).gather(run.search_sorted(run, side="left"))
    number = run.cast(pl.UInt32)
    if goes_on(rows, before):
        start, known = before.select(START, pl.col(DOCUMENT).fill_null(0)).row(0)
        begins, number = begins.zip_with(run > 0, pl.Series([start])), number + known
    elif before.height:
        number = number + (before.item(0, DOCUMENT) or 0) + 1
    return rows.with_columns(begins.cast(pl.Int64).alias(START), number.alias(DOCUMENT))


def goes_on(sentences: pl.DataFrame, before: pl.DataFrame) -> bool:
    """Return whether the first document of a batch is the one that was `OPEN` before."""
    names = ["file", "doc"]
    first, last = sentences.select(names).head(1), before.select(names).head(1)
    return first.height == 1 and first.equals(last)


def left_open(sentences: pl.DataFrame, before: pl.DataFrame) -> pl.DataFrame:
    """Return the document that may go on in the next batch.

    Parameters
    ----------
    sentences : DataFrame
        As `sentences` gives them.
    before : DataFrame
        What the batch before left open, which a batch without sentences leaves as it is.
    """
    return sentences.tail(1).select(OPEN.names()) if sentences.height else before


# Merging of counts of several corpora

_PAIR = ("l1", "l2")
_COUNTS = ("f", "f1", "f2", "N")


def merge_pairs(
    tables: Sequence[pl.LazyFrame], *, added: Sequence[str] = (), min_frequency: int = 1
) -> Iterator[pl.DataFrame]:
    """Yield the pairs of all tables with summed counts, ordered by id.

    Each pair has f, the sum of its frequencies, the marginals f1 and f2 that these add up to, and
    N, the sum of all.

    Parameters
    ----------
    tables : sequence of LazyFrame
        l1, l2, f and what else is added up: every pair type, before any threshold.
    added : sequence of str
        Further columns to add up, Int64.
    min_frequency : int
        Drop pairs with lower f, after computing marginals.

    Yields
    ------
    DataFrame
        id, l1, l2, f, f1, f2, N and the columns that were added up, in batches.

    Examples
    --------
    >>> one = pl.LazyFrame({"l1": ["a", "a"], "l2": ["x", "y"], "f": [3, 1]})
    >>> two = pl.LazyFrame({"l1": ["a", "b"], "l2": ["x", "x"], "f": [2, 1]})
    >>> pl.concat(merge_pairs([one, two])).drop("id").sort("l1", "l2").rows()
    [('a', 'x', 5, 6, 6, 7), ('a', 'y', 1, 6, 1, 7), ('b', 'x', 1, 1, 6, 7)]
    """
    rows = pl.concat([each.select(*_PAIR, "f", *added) for each in tables])
    with memory.materialise(rows.group_by(_PAIR).agg(pl.sum("f", *added))) as counts:
        total = counts.select(pl.sum("f")).collect(engine="streaming").item()
        marginals = (
            pl.sum("f").over(unit).alias(f) for unit, f in zip(_PAIR, ("f1", "f2"), strict=True)
        )
        whole = counts.with_columns(*marginals, N=pl.lit(total, pl.Int64))
        frequent = whole.filter(pl.col("f") >= min_frequency)
        table = frequent.select(candidate_id(*_PAIR), *_PAIR, *_COUNTS, *added)
        yield from batches(table.sort("id"))


# Document frequencies of words, batch by batch


def word_counts(units: pl.LazyFrame, sentences: pl.DataFrame) -> pl.LazyFrame:
    """Count units, document by document.

    Parameters
    ----------
    units : LazyFrame
        As `tokens.units` gives them.
    sentences : DataFrame
        As `sentences` gives them.

    Returns
    -------
    LazyFrame
        word, file, start, f; what is made of parts of a corpus can be added up.
    """
    occurrences = units.join(sentences.lazy().select(PLACE, *KNOWN_BY), on=PLACE)
    return occurrences.group_by(pl.col("unit").alias("word"), *KNOWN_BY).agg(
        pl.len().cast(pl.Int64).alias("f")
    )


def document_sizes(counts: pl.LazyFrame) -> pl.LazyFrame:
    """Return file, start and size (number of words) of each document."""
    return counts.group_by(KNOWN_BY).agg(size=pl.sum("f"))


# Dispersion of words over corpus parts of different sizes.


MEASURES = ("dp", "dp_norm", "juilland_d")
_WIDE = pl.Int128()
"""Holds products of two frequencies."""


def evenness(counts: pl.LazyFrame, sizes: pl.LazyFrame) -> pl.LazyFrame:
    """Return the dispersion of each word over the parts of a corpus.

    With v_i its frequency in part i of size s_i, f = sum v_i, N = sum s_i, p_i = v_i / s_i and n
    parts:

        DP      = 1/2 sum |v_i / f - s_i / N|
        DPnorm  = DP / (1 - min s_i / N)
        D       = 1 - sd(p) / mean(p) / sqrt(n - 1), sd with the divisor n

    Parameters
    ----------
    counts : LazyFrame
        word, f >= 1, and columns that identify the part.
    sizes : LazyFrame
        The same columns, and size >= 1, for every part.

    Returns
    -------
    LazyFrame
        word, f, N, documents (parts with the word), parts (n), and `MEASURES`: 0 for words spread
        in proportion to sizes, approaching 1 for words in few parts (D is reversed). All are null
        for a single part.

    Notes
    -----
    The numerator of DP is a sum of whole numbers: both halves of the deviations are equal, so that
    DP = sum max(0, v_i N - s_i f) / (f N), and only parts with the word count.

    References
    ----------
    Gries 2008, Dispersions and adjusted frequencies in corpora; Lijffijt & Gries 2012, Correction;
    Juilland & Chang-Rodriguez 1964, for p_i in place of v_i Gries 2020, Analyzing dispersion.

    Examples
    --------
    >>> counts = pl.LazyFrame({"word": ["a", "a"], "part": [1, 2], "f": [1, 2]})
    >>> sizes = pl.LazyFrame({"part": [1, 2, 3], "size": [10, 10, 20]})
    >>> evenness(counts, sizes).select("documents", pl.col("dp").round(4)).collect().row(0)
    (2, 0.5)
    """
    part = [name for name in sizes.collect_schema() if name != "size"]
    corpus = sizes.select(
        N=pl.col("size").sum(), parts=pl.len().cast(pl.Int64), _smallest=pl.col("size").min()
    )
    # Sorted by what is added up, so that the sums are the same whatever the parts are called.
    frequencies = counts.join(sizes, on=part).join(corpus, how="cross").sort("word", "size", "f")
    words = frequencies.group_by("word", maintain_order=True).agg(
        pl.sum("f"),
        pl.col("N", "parts", "_smallest").first(),
        documents=pl.len().cast(pl.Int64),
        _excess_sum=_excess_sum(),
        _squared_variation=_squared_variation(),
    )
    # Sums of fractions are the same in any buckets if no group is added up in parts.
    words = words.collect(engine="in-memory").lazy()
    several = pl.when(pl.col("parts") > 1)
    return words.select(
        "word",
        "f",
        "N",
        "documents",
        "parts",
        **{k: several.then(v) for k, v in _measures().items()},
    )


def _excess_sum() -> pl.Expr:
    """Return sum max(0, v N - s f) over the parts of a word."""
    here = pl.col("f").cast(_WIDE) * pl.col("N").cast(_WIDE)
    even = pl.col("size").cast(_WIDE) * pl.col("f").sum().cast(_WIDE)
    return pl.when(here > even).then(here - even).otherwise(pl.lit(0, _WIDE)).sum()


def _squared_variation() -> pl.Expr:
    """Return sd(p)^2 / mean(p)^2; each part without the word adds mean(p)^2 to the squares."""
    p, parts = pl.col("f") / pl.col("size"), pl.col("parts").first().cast(pl.Float64)
    mean = p.sum() / parts
    squares = (p - mean).pow(2).sum() + (parts - pl.len()) * mean.pow(2)
    return squares / parts / mean.pow(2)


def _measures() -> dict[str, pl.Expr]:
    """Return the measures, from whole numbers and the squared coefficient of variation."""
    f, total, excess = (pl.col(name).cast(pl.Float64) for name in ("f", "N", "_excess_sum"))
    rest = (pl.col("N") - pl.col("_smallest")).cast(pl.Float64)
    variation = (pl.col("_squared_variation") / (pl.col("parts") - 1)).sqrt()
    return {
        "dp": excess / (f * total),
        "dp_norm": (excess / (f * rest)).clip(0.0, 1.0),
        "juilland_d": pl.when(pl.col("documents") > 1)
        .then((1.0 - variation).clip(0.0, 1.0))
        .otherwise(0.0),
    }
