"""What a gold standard and systems say of items: classes, clusters, and how often."""

from __future__ import annotations

from schemas.base import Table
from schemas.declaration import column
from schemas.shared import ByRun, BySentence


class GoldEntries(Table):
    """The gold entry of each item, A_i: one row for each of its classes."""

    item: str = column("word type", key=True, min_length=1)
    gold: str = column("one of its gold classes", key=True, min_length=1)
    f: int = column("tokens of the item in the class; 1 where nothing is counted; tokens", ge=1)


class InducedEntries(Table):
    """The induced entry of each item, B_i, in each run of a system: a row for each cluster."""

    system: str = column("what made the clusters", key=True, min_length=1)
    run: str = column("run of the system", key=True, min_length=1)
    item: str = column("word type", key=True, min_length=1)
    cluster: str = column("one of its clusters", key=True, min_length=1)
    f: int = column(
        "tokens of the item in the cluster; null = the source counts none; tokens",
        nullable=True,
        ge=1,
    )


class TaggedTypes(Table):
    """Joint counts over the tokens of a tagging: all that a measure looks at.

    A cluster is null for tokens that the system left without one.
    """

    system: str = column("what made the clusters", key=True, min_length=1)
    run: str = column("run of the system", key=True, min_length=1)
    item: str = column("word type", key=True, min_length=1)
    gold: str = column("gold class of the tokens", key=True, min_length=1)
    cluster: str = column(
        "cluster of the tokens; null = they have none", key=True, nullable=True, min_length=1
    )
    f: int = column("tokens of the item with both; tokens", ge=1)


class TokenTags(Table):
    """Tokens of one shard by what their file says of them, before anything is dropped."""

    run: str = column("run of the system; empty in a gold standard", key=True)
    item: str = column("word type; null = the token has none", key=True, nullable=True)
    gold: str = column("gold tag; null = the token has none", key=True, nullable=True)
    cluster: str = column("cluster; null = the token has none", key=True, nullable=True)
    f: int = column("tokens with all three; tokens", ge=1)


class TokenSentences(BySentence):
    """The tokens of one shard as in `TokenTags`, sentence by sentence."""

    run: str = column("run of the system; empty in a gold standard", key=True)
    file: str
    sentence: int
    item: str = column("word type; null = the token has none", key=True, nullable=True)
    gold: str = column("gold tag; null = the token has none", key=True, nullable=True)
    cluster: str = column("cluster; null = the token has none", key=True, nullable=True)
    f: int = column("tokens of the sentence with all three; tokens", ge=1)


class GoldSentences(BySentence):
    """Tokens of each sentence by item and gold class, to draw sentences again."""

    item: str = column("word type", key=True)
    gold: str = column("gold class of the tokens", key=True)
    f: int = column("tokens of the sentence with both; tokens", ge=1)


class TaggedSentences(ByRun, BySentence):
    """Tokens of each sentence by gold class and cluster, to draw sentences again."""

    gold: str = column("gold class of the tokens", key=True)
    cluster: str = column("cluster; null = they have none", key=True, nullable=True)
    f: int = column("tokens of the sentence with both; tokens", ge=1)


class SystemSize(ByRun):
    """What was read of each run of a system, and what was dropped."""

    what: str = column("items, clusters, tokens without a tag ...", key=True)
    count: int = column("how many", ge=0)
