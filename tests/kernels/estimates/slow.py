"""The formulas of the estimates once more, one candidate after the other, in exact fractions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction


def added(values: Iterable[Fraction]) -> Fraction:
    return sum(values, Fraction(0))


@dataclass(frozen=True)
class Member:
    """A candidate of a set; y is None where it was not drawn, or not judged."""

    y: int | None
    pi: Fraction
    stratum: int = 0
    fold: int = 0
    guess: Fraction = Fraction(0)


def slow_estimate(
    members: Sequence[Member], tau: Sequence[Fraction] = (Fraction(0),)
) -> tuple[Fraction | None, Fraction | None]:
    """Return the estimate of a set and its variance: None where there is none."""
    size = len(members)
    strata = sorted({each.stratum for each in members if each.pi < 1})
    parts = {h: [each for each in members if each.pi < 1 and each.stratum == h] for h in strata}
    known = [each for each in members if each.pi == 1]
    for h in strata:
        if all(each.y is not None for each in parts[h]):
            known += parts.pop(h)
    if any(each.y is None for each in known) or not size:
        return None, None
    rest = sum(map(len, parts.values()))
    hits = sum(each.y or 0 for each in known)
    if not rest:
        return Fraction(hits, size), Fraction(0)
    drawn = {h: [each for each in part if each.y is not None] for h, part in parts.items()}
    if not all(drawn.values()):
        return None, None
    means = {h: mean_residual(part, tau) for h, part in drawn.items()}
    overall = added(Fraction(len(parts[h]), rest) * means[h] for h in parts)
    p = variance = Fraction(0)
    for h, part in parts.items():
        share = Fraction(len(part), rest)
        guesses = added(weight(each, tau) * each.guess for each in part) / len(part)
        p += share * (means[h] + guesses)
        if len(drawn[h]) > 1:
            variance += share**2 * spread(drawn[h], means[h], tau)
        elif rest and sum(map(len, drawn.values())) > 1:
            variance += share**2 * (1 - drawn[h][0].pi) * whole_spread(parts, drawn, overall, tau)
    p = min(max(p, Fraction(0)), Fraction(1))
    single = sum(map(len, drawn.values())) == 1
    theta = (hits + rest * p) / size
    return theta, None if single else Fraction(rest, size) ** 2 * variance


def weight(each: Member, tau: Sequence[Fraction]) -> Fraction:
    return sum(tau, Fraction(0)) / len(tau) if each.y is None else tau[each.fold]


def residual(each: Member, tau: Sequence[Fraction]) -> Fraction:
    return Fraction(each.y or 0) - tau[each.fold] * each.guess


def mean_residual(drawn: Sequence[Member], tau: Sequence[Fraction]) -> Fraction:
    top = added(residual(each, tau) / each.pi for each in drawn)
    return top / added(1 / each.pi for each in drawn)


def spread(drawn: Sequence[Member], mean: Fraction, tau: Sequence[Fraction]) -> Fraction:
    total, m = added(1 / each.pi for each in drawn), len(drawn)
    z = [(residual(each, tau) - mean) / (total * each.pi) for each in drawn]
    c = [1 - each.pi for each in drawn]
    centre = added(a * b for a, b in zip(c, z, strict=True)) / added(c)
    return Fraction(m, m - 1) * added(a * (b - centre) ** 2 for a, b in zip(c, z, strict=True))


def whole_spread(
    parts: dict[int, list[Member]],
    drawn: dict[int, list[Member]],
    mean: Fraction,
    tau: Sequence[Fraction],
) -> Fraction:
    """The mean square about the mean of all, by squared weights."""
    rest, m = sum(map(len, parts.values())), sum(map(len, drawn.values()))
    above = below = Fraction(0)
    for h, part in drawn.items():
        scale = Fraction(len(parts[h]), rest) / added(1 / each.pi for each in part)
        for each in part:
            squared = (1 - each.pi) * (scale / each.pi) ** 2
            above += squared * (residual(each, tau) - mean) ** 2
            below += squared
    return Fraction(m, m - 1) * above / below


def slow_tau(drawn: Sequence[Member], sizes: dict[int, int], fold: int, *, folds: int) -> Fraction:
    """The slope in the other folds, clipped; 0 where nothing differs."""
    others = [each for each in drawn if folds == 1 or each.fold != fold]
    rest = sum(sizes.values())
    joint = own = Fraction(0)
    for h, size in sizes.items():
        part = [each for each in others if each.stratum == h]
        if len(part) < 2:
            continue
        share, total = Fraction(size, rest), added(1 / each.pi for each in part)
        y, g = (
            added(value / each.pi for value, each in zip(values, part, strict=True)) / total
            for values in ([Fraction(each.y or 0) for each in part], [each.guess for each in part])
        )
        c = [1 - each.pi for each in part]
        zy = [(Fraction(each.y or 0) - y) / (total * each.pi) for each in part]
        zg = [(each.guess - g) / (total * each.pi) for each in part]
        by, bg = (added(a * b for a, b in zip(c, z, strict=True)) / added(c) for z in (zy, zg))
        factor = share**2 * Fraction(len(part), len(part) - 1)
        joint += factor * added(a * (u - by) * (v - bg) for a, u, v in zip(c, zy, zg, strict=True))
        own += factor * added(a * (v - bg) ** 2 for a, v in zip(c, zg, strict=True))
    alike = len({each.y for each in others}) < 2
    return Fraction(0) if alike or not own else min(max(joint / own, Fraction(0)), Fraction(1))
