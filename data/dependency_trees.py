"""Dependency trees as nested nodes, as numbered words and as CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(slots=True)
class Node:
    """A word and what depends on it, so that every tree is projective and has one root.

    Parameters
    ----------
    form, lemma, upos, deprel, feats : str
        As in CoNLL-U.
    contracted : str
        If not empty, how this and the next word are written as one.
    before, after : list of Node
        The dependents on either side, in their order.
    """

    form: str
    lemma: str
    upos: str
    deprel: str
    feats: str = "_"
    contracted: str = ""
    before: list[Node] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)


class Word(NamedTuple):
    """A word of a sentence; its number is its place, from 1, and the head of the root is 0."""

    form: str
    lemma: str
    upos: str
    feats: str
    head: int
    deprel: str
    contracted: str


def words(root: Node) -> list[Word]:
    """Return the words of a tree in their order, the first capitalised.

    Examples
    --------
    >>> root = Node("sleeps", "sleep", "VERB", "root", before=[Node("it", "it", "PRON", "nsubj")])
    >>> [(word.form, word.head) for word in words(root)]
    [('It', 2), ('sleeps', 0)]
    """
    nodes = list(_in_order(root, None))
    numbers = {id(node): number for number, (node, _) in enumerate(nodes, start=1)}
    result = [
        Word(
            node.form, node.lemma, node.upos, node.feats,
            0 if head is None else numbers[id(head)], node.deprel, node.contracted,
        )
        for node, head in nodes
    ]  # fmt: skip
    first = result[0]
    result[0] = first._replace(
        form=first.form.capitalize(), contracted=first.contracted.capitalize()
    )
    return result


def _in_order(node: Node, head: Node | None) -> Iterator[tuple[Node, Node | None]]:
    for dependent in node.before:
        yield from _in_order(dependent, node)
    yield node, head
    for dependent in node.after:
        yield from _in_order(dependent, node)


def text(sentence: Sequence[Word]) -> str:
    """Return a sentence as it is written: contracted, and no space before punctuation."""
    result = ""
    inside = False
    for word in sentence:
        if not inside:
            space = "" if not result or word.upos == "PUNCT" else " "
            result += space + (word.contracted or word.form)
        inside = bool(word.contracted)
    return result


def conllu(sentence: Sequence[Word], *, sent_id: str) -> str:
    """Return a sentence with its comments, its ranges, and the blank line at its end."""
    lines = [f"# sent_id = {sent_id}", f"# text = {text(sentence)}"]
    for number, word in enumerate(sentence, start=1):
        if word.contracted:
            lines.append(f"{number}-{number + 1}\t{word.contracted}" + "\t_" * 8)
        closed = number < len(sentence) and sentence[number].upos == "PUNCT"
        lines.append(
            f"{number}\t{word.form}\t{word.lemma}\t{word.upos}\t_\t{word.feats}\t{word.head}"
            f"\t{word.deprel}\t_\t{'SpaceAfter=No' if closed else '_'}"
        )
    return "\n".join(lines) + "\n\n"
