"""What the sentences of the corpus say: verbs with their prepositional phrases, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

from pseudo_words import Uniform, draw
from simulation import Kind, Pair, Simulation

PLANTED, BACKGROUND = 0.85, 0.75
"""Shares of pair tokens that are used: those of planted pairs, and the others."""
REPEATED = 2
"""Others are used only if the simulation has as many of the pair: a smaller corpus would
otherwise be nearly all pairs that occur once."""
PHRASES = tuple(accumulate((0.45, 0.40, 0.15)))
"""Weights of 1, 2 and 3 phrases in a clause, cumulative."""
BARE = 0.05
"""Clauses without a phrase, for each clause with some."""
TOPICAL = "exclusive"
"""The kind of planted pairs that keep to one topic, and so to a few documents."""
TOPIC = 0.01
"""The share of the corpus that a topic stretches over."""


class Clause(NamedTuple):
    """A verb and the units "preposition:noun" that go with it."""

    verb: str
    phrases: tuple[str, ...]


def clauses(simulation: Simulation, uniform: Uniform) -> list[Clause]:
    """Return the clauses of a corpus in the order of its topics.

    Parameters
    ----------
    simulation : Simulation
        The pair tokens; each that is used becomes a phrase in a clause with its verb.
    uniform : callable
        Source of chance.
    """
    tokens, planted = simulation
    used = list(_choose_pairs(simulation, uniform))
    sequence = list(_dealt(_shuffle(used, uniform), uniform))
    for _ in range(int(BARE * len(sequence))):
        sequence.append(Clause(tokens[int(uniform() * len(tokens))][1], ()))
    return _by_topic(sequence, planted, uniform)


def _choose_pairs(simulation: Simulation, uniform: Uniform) -> Iterator[Pair]:
    frequency = Counter(simulation.tokens)
    for pair in simulation.tokens:
        planted = pair in simulation.planted
        share = PLANTED if planted else BACKGROUND
        if (planted or frequency[pair] >= REPEATED) and uniform() < share:
            yield pair


def _shuffle(tokens: Iterable[Pair], uniform: Uniform) -> list[Pair]:
    return sorted(tokens, key=lambda _: uniform())


def _dealt(tokens: Iterable[Pair], uniform: Uniform) -> Iterator[Clause]:
    """Give each verb its phrases, one to three a clause and no phrase twice in one."""
    rounds: dict[str, list[str]] = {}
    room: dict[str, int] = {}
    for unit, verb in tokens:
        phrases = rounds.setdefault(verb, [])
        if phrases and (len(phrases) > room[verb] or unit in phrases):
            yield Clause(verb, tuple(phrases))
            phrases.clear()
        if not phrases:
            room[verb] = draw(PHRASES, uniform)
        phrases.append(unit)
    yield from (Clause(verb, tuple(phrases)) for verb, phrases in rounds.items())


def _by_topic(
    sequence: Iterable[Clause], planted: Mapping[Pair, Kind], uniform: Uniform
) -> list[Clause]:
    """Put the clauses with the same topical pair near each other, and the others anywhere."""
    topics: dict[Pair, float] = {}

    def place(clause: Clause) -> float:
        for unit in clause.phrases:
            pair = unit, clause.verb
            if pair in planted and planted[pair].name == TOPICAL:
                return topics.setdefault(pair, uniform()) + TOPIC * uniform()
        return uniform()

    return sorted(sequence, key=place)
