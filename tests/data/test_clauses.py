from __future__ import annotations

import random
from collections import Counter

import clauses
import pytest
from clauses import Clause
from make_corpus import SEED
from simulation import Kind, Simulation, simulate


def kind(name: str) -> Kind:
    return Kind(name, 1, (0, 1), (0, 1), 1, 9, 1.0, collocation=True)


def test_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clauses, "BARE", 0.25)
    tokens = [("in:a", "x")] * 3 + [("on:b", "x")] * 2 + [("on:b", "y")]
    planted = {("in:a", "x"): kind("figurative")}
    made = clauses.clauses(Simulation(tokens, planted), lambda: 0.5)
    # y is not used with on:b, which occurs once and was not planted; no clause has a phrase twice;
    # a quarter of the four clauses is added, with the verb in the middle of the tokens
    assert made == [
        Clause("x", ("in:a",)),
        Clause("x", ("in:a",)),
        Clause("x", ("in:a", "on:b")),
        Clause("x", ("on:b",)),
        Clause("x", ()),
    ]


def test_clauses_say_what_the_simulation_drew() -> None:
    simulation = simulate(SEED)
    made = clauses.clauses(simulation, random.Random("any").random)
    said = Counter((unit, clause.verb) for clause in made for unit in clause.phrases)
    drawn = Counter(simulation.tokens)
    assert said <= drawn
    assert all(pair in simulation.planted or drawn[pair] >= clauses.REPEATED for pair in said)
    planted = [sum(each[pair] for pair in simulation.planted) for each in (said, drawn)]
    assert planted[0] / planted[1] == pytest.approx(clauses.PLANTED, abs=0.02)
    assert {len(clause.phrases) for clause in made} == {0, 1, 2, 3}
    assert all(len(set(clause.phrases)) == len(clause.phrases) for clause in made)


def test_topical_pairs_stand_together() -> None:
    planted = {("in:a", "x"): kind(clauses.TOPICAL), ("in:b", "y"): kind("habitual")}
    simulation = Simulation([("in:a", "x"), ("in:b", "y")] * 200, planted)
    made = clauses.clauses(simulation, random.Random("any").random)
    places = [place for place, clause in enumerate(made) if "in:a" in clause.phrases]
    others = [place for place, clause in enumerate(made) if "in:b" in clause.phrases]
    assert places[-1] - places[0] < 1.1 * len(places)
    assert others[-1] - others[0] > 0.9 * len(made)
