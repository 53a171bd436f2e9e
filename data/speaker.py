"""Words of the invented language, as usual or rare as they are, and chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from pseudo_words import Uniform, draw, zipf
from simulation import Kind, Pair, Simulation

PRONOUNS = ("it", "she", "he", "they", "we")
OBJECT_FORMS = {"it": "it", "she": "her", "he": "him", "they": "them", "we": "us"}
CONTRACTIONS = {"in": "inth", "on": "onth", "to": "toth", "from": "fromth"}
"""How a preposition and the article "the" are written as one."""
PARTICLES = ("up", "out", "off", "down")
NTH_VERB = 8
"""Every eighth verb may have a particle."""
N_ADJECTIVES = 120
_ADJECTIVES = list(accumulate(zipf(N_ADJECTIVES, exponent=1.0, shift=2.0)))


@dataclass(frozen=True)
class Speaker:
    """Words, how usual they are, and chance.

    Parameters
    ----------
    uniform : callable
        Source of chance.
    usual : sequence of (str, str)
        Pair tokens; what is drawn from them comes as often as among them.
    planted : mapping of (str, str) to Kind
        The kind of each planted pair.
    adjectives : sequence of str
        From the most frequent to the rarest.
    particles : mapping of str to str
        Verb to its particle.
    """

    uniform: Uniform
    usual: Sequence[Pair]
    planted: Mapping[Pair, Kind]
    adjectives: Sequence[str]
    particles: Mapping[str, str]

    def chance(self, probability: float) -> bool:
        """Return whether something of this probability happens."""
        return self.uniform() < probability

    def one_of(self, choices: Sequence[str]) -> str:
        """Return one of the choices, all as probable."""
        return choices[int(self.uniform() * len(choices))]

    def phrase(self) -> tuple[str, str]:
        """Return a usual preposition and its noun."""
        return split(self.usual[int(self.uniform() * len(self.usual))][0])

    def adjective(self) -> str:
        """Return an adjective by Zipf's law."""
        return self.adjectives[draw(_ADJECTIVES, self.uniform)]

    def is_fixed(self, pair: Pair) -> bool:
        """Return whether a pair is a collocation: its noun has no article and no adjective."""
        return pair in self.planted and self.planted[pair].collocation


def speaker(simulation: Simulation, uniform: Uniform) -> Speaker:
    """Make adjectives of nouns, and give some verbs a particle."""
    nouns = list(dict.fromkeys(split(unit)[1] for unit, _ in simulation.tokens))
    verbs = list(dict.fromkeys(verb for _, verb in simulation.tokens))
    spread = nouns[:: len(nouns) // N_ADJECTIVES][:N_ADJECTIVES]
    particles = {verb: PARTICLES[i % len(PARTICLES)] for i, verb in enumerate(verbs[::NTH_VERB])}
    adjectives = [f"{noun}ish" for noun in spread]
    return Speaker(uniform, simulation.tokens, simulation.planted, adjectives, particles)


def split(unit: str) -> tuple[str, str]:
    """Return preposition and noun of a unit "preposition:noun".

    Examples
    --------
    >>> split("in:brandel")
    ('in', 'brandel')
    """
    preposition, _, noun = unit.partition(":")
    return preposition, noun


def past(verb: str) -> str:
    """Return the past tense of a verb.

    Examples
    --------
    >>> past("brandify"), past("brandate"), past("branden")
    ('brandified', 'brandated', 'brandened')
    """
    return f"{verb[:-1]}ied" if verb.endswith("y") else f"{verb.removesuffix('e')}ed"
