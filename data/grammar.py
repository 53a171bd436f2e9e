"""The grammar of the invented language: clauses become sentences, as dependency trees."""

from __future__ import annotations

from collections.abc import Iterable

from clauses import Clause
from dependency_trees import Node
from speaker import CONTRACTIONS, OBJECT_FORMS, PRONOUNS, Speaker, past, split

MODIFIED, COORDINATED = 0.25, 0.06
"""Nouns that have a prepositional phrase, or a second noun beside them."""


def sentence(clauses: Iterable[Clause], speaker: Speaker) -> Node:
    """Return a sentence of one or more clauses; of none, a heading without a verb."""
    root, *others = [_clause(each, speaker) for each in clauses] or [_complex("root", speaker)]
    for other in others:
        other.deprel = "conj"
        other.before.insert(0, _conjunction(speaker))
        if speaker.chance(0.7):
            other.before.insert(0, _mark(","))
        root.after.append(other)
    root.after.append(_mark(speaker.one_of("........!?")))
    return root


def _clause(content: Clause, speaker: Speaker) -> Node:
    """Return a verb with subject, perhaps object, particle and adverbs, and its phrases."""
    verb = Node(past(content.verb), content.verb, "VERB", "root", "Tense=Past|VerbForm=Fin")
    first, last = verb.before, verb.after
    first.append(_subject(speaker))
    if speaker.chance(0.3):
        last.append(_complex("obj", speaker))
    if content.verb in speaker.particles and speaker.chance(0.6):
        particle = speaker.particles[content.verb]
        last.append(Node(particle, particle, "ADP", "compound:prt"))
    last += [_argument(unit, content.verb, speaker) for unit in content.phrases]
    if speaker.chance(0.03):
        last.append(_addressee(speaker))
    if speaker.chance(0.2):
        (first if speaker.chance(0.5) else last).append(_adverb(speaker))
    if content.phrases and speaker.chance(0.12):
        _front(verb, speaker)
    return verb


def _argument(unit: str, verb: str, speaker: Speaker) -> Node:
    """Return a phrase of the verb."""
    preposition, noun = split(unit)
    if speaker.is_fixed((unit, verb)):
        return _phrase(preposition, _singular(noun, "obl"), speaker)
    return _phrase(preposition, _noun(noun, "obl", speaker), speaker)


def _front(verb: Node, speaker: Speaker) -> None:
    """Move one phrase to the front of its clause."""
    place = next(i for i, node in enumerate(verb.after) if node.deprel == "obl")
    verb.before.insert(0, verb.after.pop(place))
    if speaker.chance(0.4):
        verb.before.insert(1, _mark(","))


def _subject(speaker: Speaker) -> Node:
    if speaker.chance(0.35):
        pronoun = speaker.one_of(PRONOUNS)
        return Node(pronoun, pronoun, "PRON", "nsubj")
    return _complex("nsubj", speaker)


def _addressee(speaker: Speaker) -> Node:
    """Return a phrase with a pronoun, which is no unit."""
    pronoun = speaker.one_of(PRONOUNS)
    node = Node(OBJECT_FORMS[pronoun], pronoun, "PRON", "obl")
    node.before.append(Node("with", "with", "ADP", "case"))
    return node


def _complex(deprel: str, speaker: Speaker) -> Node:
    """Return a noun, perhaps with a phrase of its own or another noun."""
    node = _noun(speaker.phrase()[1], deprel, speaker)
    if speaker.chance(MODIFIED):
        preposition, noun = speaker.phrase()
        node.after.append(_phrase(preposition, _noun(noun, "nmod", speaker), speaker))
    if speaker.chance(COORDINATED):
        other = _noun(speaker.phrase()[1], "conj", speaker)
        other.before.insert(0, _conjunction(speaker))
        node.after.append(other)
    return node


def _phrase(preposition: str, noun: Node, speaker: Speaker) -> Node:
    """Put a preposition before a noun, contracted with its article now and then."""
    case = Node(preposition, preposition, "ADP", "case")
    article = noun.before[0].form if noun.before else ""
    if article == "the" and preposition in CONTRACTIONS and speaker.chance(0.25):
        case.contracted = CONTRACTIONS[preposition]
    noun.before.insert(0, case)
    return noun


def _noun(noun: str, deprel: str, speaker: Speaker) -> Node:
    """Return a noun with article, adjectives and number as they come."""
    plural = speaker.chance(0.25)
    node = (
        Node(f"{noun}s", noun, "NOUN", deprel, "Number=Plur") if plural else _singular(noun, deprel)
    )
    if speaker.chance(0.75):
        article = "a" if not plural and speaker.chance(0.3) else "the"
        node.before.append(Node(article, article, "DET", "det"))
    while speaker.chance(0.2):
        adjective = speaker.adjective()
        node.before.append(Node(adjective, adjective, "ADJ", "amod"))
    return node


def _singular(noun: str, deprel: str) -> Node:
    return Node(noun, noun, "NOUN", deprel, "Number=Sing")


def _adverb(speaker: Speaker) -> Node:
    adverb = f"{speaker.adjective()}ly"
    return Node(adverb, adverb, "ADV", "advmod")


def _conjunction(speaker: Speaker) -> Node:
    word = speaker.one_of(("and", "or", "but"))
    return Node(word, word, "CCONJ", "cc")


def _mark(sign: str) -> Node:
    return Node(sign, sign, "PUNCT", "punct")
