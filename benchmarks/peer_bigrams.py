"""Count bigrams of a text with another tool: a peer to measure against.

python benchmarks/peer_bigrams.py counter|nltk|gensim|duckdb FILE MIN_FREQUENCY [PARQUET]

A sentence is a line, a token what stands between white space. Prints how many candidates are
left above the threshold and how many pair tokens there are. With PARQUET, DuckDB writes there
what lexassay does: l1, l2, f, f1, f2, N of every candidate; the others only count.
"""

from __future__ import annotations

import gzip
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise


def sentences(path: str) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.split()


def counter(path: str, least: int) -> tuple[int, int]:
    pairs: Counter[tuple[str, str]] = Counter()
    for words in sentences(path):
        pairs.update(pairwise(words))
    left: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for (l1, l2), f in pairs.items():
        left[l1] += f
        right[l2] += f
    rows = [(l1, l2, f, left[l1], right[l2]) for (l1, l2), f in pairs.items() if f >= least]
    return len(rows), sum(pairs.values())


def nltk(path: str, least: int) -> tuple[int, int]:
    from nltk.collocations import BigramCollocationFinder

    # Its own way of keeping sentences apart pads each of them.
    finder = BigramCollocationFinder.from_documents(list(sentences(path)))
    total = finder.ngram_fd.N()
    finder.apply_freq_filter(least)
    return len(finder.ngram_fd), total


def gensim(path: str, least: int) -> tuple[int, int]:
    from gensim.models.phrases import Phrases

    phrases = Phrases(
        sentences(path), min_count=least, threshold=1e-9, delimiter="\t", max_vocab_size=10**9
    )
    bigrams = [word for word, f in phrases.vocab.items() if "\t" in word and f >= least]
    return len(bigrams), phrases.corpus_word_count


def duckdb(path: str, least: int, output: str = "") -> tuple[int, int]:
    import duckdb as database

    connection = database.connect()
    connection.execute(
        r"""
        CREATE TABLE texts AS
        SELECT list_filter(string_split_regex(text, '\s+'), lambda w: w <> '') AS words
        FROM read_csv(?, columns = {'text': 'VARCHAR'}, delim = '\x01', quote = '', escape = '',
                      header = false, auto_detect = false, compression = 'gzip')
        """,
        [path],
    )
    connection.execute(
        """
        CREATE TABLE counts AS
        SELECT l1, l2, count(*) AS f
        FROM (SELECT unnest(words[:-2]) AS l1, unnest(words[2:]) AS l2
              FROM texts WHERE len(words) > 1)
        GROUP BY l1, l2
        """
    )
    connection.execute(
        """
        CREATE TABLE kept AS
        WITH lefts AS (SELECT l1, sum(f)::BIGINT AS f1 FROM counts GROUP BY l1),
             rights AS (SELECT l2, sum(f)::BIGINT AS f2 FROM counts GROUP BY l2)
        SELECT l1, l2, f, f1, f2, (SELECT sum(f)::BIGINT FROM counts) AS N
        FROM counts JOIN lefts USING (l1) JOIN rights USING (l2)
        WHERE f >= ?
        """,
        [least],
    )
    if output:
        connection.execute(f"COPY kept TO '{output}' (FORMAT parquet, COMPRESSION zstd)")
    row = connection.execute("SELECT count(*), (SELECT sum(f) FROM counts) FROM kept").fetchone()
    if row is None:
        raise RuntimeError("no row")
    return int(row[0]), int(row[1])


def main() -> int:
    """Print the number of candidates and of pair tokens."""
    peers: dict[str, Callable[..., tuple[int, int]]] = {
        "counter": counter, "nltk": nltk, "gensim": gensim, "duckdb": duckdb,
    }  # fmt: skip
    count = peers[sys.argv[1]]
    print(*count(sys.argv[2], int(sys.argv[3]), *sys.argv[4:5]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
