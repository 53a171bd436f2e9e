"""What a gold standard and systems say of items: classes, clusters, and how often."""

from __future__ import annotations

from typing import ClassVar

import pandera.polars as pa

from schemas.base import Table


class GoldEntries(Table):
    """The gold entry of each item, A_i: one row for each of its classes."""

    _key: ClassVar[tuple[str, ...]] = ("item", "gold")

    item: str = pa.Field(str_length={"min_value": 1}, description="word type")
    gold: str = pa.Field(str_length={"min_value": 1}, description="one of its gold classes")
    f: int = pa.Field(
        ge=1, description="tokens of the item in the class; 1 where nothing is counted; tokens"
    )


class InducedEntries(Table):
    """The induced entry of each item, B_i, in each run of a system: a row for each cluster."""

    _key: ClassVar[tuple[str, ...]] = ("system", "run", "item", "cluster")

    system: str = pa.Field(str_length={"min_value": 1}, description="what made the clusters")
    run: str = pa.Field(str_length={"min_value": 1}, description="run of the system")
    item: str = pa.Field(str_length={"min_value": 1}, description="word type")
    cluster: str = pa.Field(str_length={"min_value": 1}, description="one of its clusters")
    f: int = pa.Field(
        ge=1,
        nullable=True,
        description="tokens of the item in the cluster; null = the source counts none; tokens",
    )


class TaggedTypes(Table):
    """Joint counts over the tokens of a tagging: all that a measure looks at.

    A cluster is null for tokens that the system left without one.
    """

    _key: ClassVar[tuple[str, ...]] = ("system", "run", "item", "gold", "cluster")

    system: str = pa.Field(str_length={"min_value": 1}, description="what made the clusters")
    run: str = pa.Field(str_length={"min_value": 1}, description="run of the system")
    item: str = pa.Field(str_length={"min_value": 1}, description="word type")
    gold: str = pa.Field(str_length={"min_value": 1}, description="gold class of the tokens")
    cluster: str = pa.Field(
        str_length={"min_value": 1},
        nullable=True,
        description="cluster of the tokens; null = they have none",
    )
    f: int = pa.Field(ge=1, description="tokens of the item with both; tokens")


class TokenTags(Table):
    """Tokens of one shard by what their file says of them, before anything is dropped."""

    _key: ClassVar[tuple[str, ...]] = ("run", "item", "gold", "cluster")

    run: str = pa.Field(description="run of the system; empty in a gold standard")
    item: str = pa.Field(nullable=True, description="word type; null = the token has none")
    gold: str = pa.Field(nullable=True, description="gold tag; null = the token has none")
    cluster: str = pa.Field(nullable=True, description="cluster; null = the token has none")
    f: int = pa.Field(ge=1, description="tokens with all three; tokens")


class TokenSentences(Table):
    """The tokens of one shard as in `TokenTags`, sentence by sentence."""

    _key: ClassVar[tuple[str, ...]] = ("run", "file", "sentence", "item", "gold", "cluster")

    run: str = pa.Field(description="run of the system; empty in a gold standard")
    file: str = pa.Field(description="input file, as the experiment names it")
    sentence: int = pa.Field(ge=1, description="sentence of the file, from 1")
    item: str = pa.Field(nullable=True, description="word type; null = the token has none")
    gold: str = pa.Field(nullable=True, description="gold tag; null = the token has none")
    cluster: str = pa.Field(nullable=True, description="cluster; null = the token has none")
    f: int = pa.Field(ge=1, description="tokens of the sentence with all three; tokens")


class GoldSentences(Table):
    """Tokens of each sentence by item and gold class, to draw sentences again."""

    _key: ClassVar[tuple[str, ...]] = ("file", "sentence", "item", "gold")

    file: str = pa.Field(description="input file, as the experiment names it")
    sentence: int = pa.Field(ge=1, description="sentence of the file, from 1")
    item: str = pa.Field(description="word type")
    gold: str = pa.Field(description="gold class of the tokens")
    f: int = pa.Field(ge=1, description="tokens of the sentence with both; tokens")


class TaggedSentences(Table):
    """Tokens of each sentence by gold class and cluster, to draw sentences again."""

    _key: ClassVar[tuple[str, ...]] = ("system", "run", "file", "sentence", "gold", "cluster")

    system: str = pa.Field(description="what made the clusters")
    run: str = pa.Field(description="run of the system")
    file: str = pa.Field(description="input file, as the experiment names it")
    sentence: int = pa.Field(ge=1, description="sentence of the file, from 1")
    gold: str = pa.Field(description="gold class of the tokens")
    cluster: str = pa.Field(nullable=True, description="cluster; null = they have none")
    f: int = pa.Field(ge=1, description="tokens of the sentence with both; tokens")


class SystemSize(Table):
    """What was read of each run of a system, and what was dropped."""

    _key: ClassVar[tuple[str, ...]] = ("system", "run", "what")

    system: str = pa.Field(description="what made the clusters")
    run: str = pa.Field(description="run of the system")
    what: str = pa.Field(description="items, clusters, tokens without a tag ...")
    count: int = pa.Field(ge=0, description="how many")
