"""Phrases that findings are built from: names, numbers, intervals, lists, verdicts.

Only functions of this module give a verdict (better, worse, above, below). Where the test or the
interval does not support it, they raise an error or report that there is no significant difference.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from schemas.errors import count_text

# Names: on one line, short, isolated if written from right to left.

LONGEST = 40
"""Longest name in a sentence, in characters."""
_FIRST_STRONG, _END = "\u2068", "\u2069"
_LEFTWARDS = {"R", "AL", "AN"}
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"
"""Invisible characters that belong to the spelling of words in some languages."""


def name_text(name: str, *, most: int = LONGEST) -> str:
    r"""Return a name as sentences show it.

    White space becomes one blank, invisible characters are removed, and a long name ends in "…". A
    name with letters that are written from right to left is isolated from the surrounding text.

    Parameters
    ----------
    name : str
        A word, a cluster, a class, a system.
    most : int
        Maximum number of characters, 2 or more.

    Examples
    --------
    >>> name_text("tree, 3 bits"), name_text("a\n b"), name_text("x" * 50, most=5), name_text("")
    ('tree, 3 bits', 'a b', 'xxxx…', '(empty)')
    """
    visible = "".join(_visible(letter) for letter in name)
    text = " ".join(visible.split())
    if not text:
        return "(empty)"
    if len(text) > most:
        text = f"{text[: most - 1]}…"
    if any(unicodedata.bidirectional(letter) in _LEFTWARDS for letter in text):
        return f"{_FIRST_STRONG}{text}{_END}"
    return text


def _visible(letter: str) -> str:
    if letter.isspace():
        return " "
    hidden = unicodedata.category(letter) in _UNSEEN and letter not in _JOINERS
    return "" if hidden else letter


def slug(text: str) -> str:
    """Replace all characters but ASCII letters, digits, ``_`` and ``-`` by a dash.

    Names of files and figures are built from it.

    Examples
    --------
    >>> slug("figur/PP verb")
    'figur-PP-verb'
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-") or "x"


_MINUS = "−"
SHOWN = 4
"""Names that a list shows; the others are counted."""


def number(value: float, digits: int) -> str:
    """Return a number with this many decimals and a true minus sign; never −0.

    Examples
    --------
    >>> number(-12.44, 1), number(-0.001, 1), number(5102, 0)
    ('−12.4', '0.0', '5,102')
    >>> number(float("nan"), 1), number(float("-inf"), 1)
    ('undefined', '−∞')
    """
    if not math.isfinite(value):
        return "undefined" if math.isnan(value) else f"{_MINUS if value < 0 else ''}∞"
    nearest = round(value, digits) + 0.0
    return f"{nearest:,.{digits}f}".replace("-", _MINUS)


def per_cent(share: float, *, digits: int = 1) -> str:
    """Return a proportion in per cent.

    Examples
    --------
    >>> per_cent(0.3042), per_cent(1.0)
    ('30.4 %', '100.0 %')
    """
    return f"{number(100 * share, digits)} %"


def interval(lower: float | None, upper: float | None, *, digits: int = 1) -> str:
    """Return the limits of a proportion in per cent; an empty text without limits.

    Examples
    --------
    >>> interval(0.264, 0.3461), interval(None, None)
    ('[26.4, 34.6]', '')
    """
    if lower is None or upper is None:
        return ""
    return f"[{number(100 * lower, digits)}, {number(100 * upper, digits)}]"


def estimate(share: float, lower: float | None, upper: float | None, *, of: str = "") -> str:
    """Return a proportion in per cent, with its limits if it has any.

    Examples
    --------
    >>> estimate(0.304, 0.264, 0.346), estimate(0.304, None, None)
    ('30.4 % [26.4, 34.6]', '30.4 %')
    >>> estimate(0.304, 0.264, 0.346, of="true positives")
    '30.4 % true positives [26.4, 34.6]'
    """
    return " ".join(part for part in (per_cent(share), of, interval(lower, upper)) if part)


TRUE_POSITIVES = "true positives"
"""The unit of precision in sentences, for `estimate`."""


def coefficient(value: float, lower: float | None = None, upper: float | None = None) -> str:
    """Return a coefficient that is not a proportion, for example kappa, with any limits.

    Examples
    --------
    >>> coefficient(0.7123, 0.62, 0.8), coefficient(-0.25)
    ('.71 [.62, .80]', '−.25')
    """
    phrase = _short(value)
    return (
        phrase if lower is None or upper is None else f"{phrase} [{_short(lower)}, {_short(upper)}]"
    )


def _short(value: float, digits: int = 2) -> str:
    """Return a number between −1 and 1 without the zero before its decimal point."""
    phrase = number(value, digits)
    return phrase.replace("0.", ".", 1) if abs(round(value, digits)) < 1 else phrase


def points(difference: float) -> str:
    """Return a difference of proportions in percentage points, with its sign.

    Examples
    --------
    >>> points(-0.124), points(0.01), points(0.0)
    ('−12.4 points', '+1.0 points', '0.0 points')
    """
    return f"{_format_signed(difference)} points"


def _format_signed(difference: float) -> str:
    phrase = number(100 * difference, 1)
    plus = "" if phrase in ("0.0", "undefined") or phrase.startswith(_MINUS) else "+"
    return f"{plus}{phrase}"


def points_within(
    difference: float, lower: float | None, upper: float | None, *, excludes_zero: bool = False
) -> str:
    """Return a difference of proportions in percentage points with the limits of the difference.

    Limits that agree with a test may end at 0 without including it: then they exclude zero.

    Examples
    --------
    >>> points_within(-0.102, -0.153, -0.036), points_within(0.01, None, None)
    ('−10.2 points [−15.3, −3.6]', '+1.0 points')
    >>> points_within(-0.065, -0.065, -0.065)
    'exactly −6.5 points'
    >>> points_within(0.058, 0.0, 0.115, excludes_zero=True)
    '+5.8 points [>0, +11.5]'
    """
    if lower is None or upper is None:
        return points(difference)
    if lower == difference == upper:
        return f"exactly {points(difference)}"
    ends = [_format_signed(lower), _format_signed(upper)]
    if excludes_zero:
        ends = [_beside_zero(end, difference) for end in ends]
    return f"{points(difference)} [{', '.join(ends)}]"


def _beside_zero(end: str, difference: float) -> str:
    """Return a limit that shows that 0 is excluded."""
    return (">0" if difference > 0 else "<0") if end == "0.0" else end


def p_value(p: float, *, of: str = "p") -> str:
    """Return a p-value as papers print it.

    Examples
    --------
    >>> p_value(0.0031), p_value(0.00004), p_value(0.04961), p_value(1.0)
    ('p = .003', 'p < .001', 'p = .0496', 'p = 1')
    """
    if p < 0.001:
        return f"{of} < .001"
    digits = 4 if 0.045 <= p < 0.055 else 3
    phrase = _short(p, digits)
    return f"{of} = {'1' if phrase in ('1.000', '1.0000') else phrase}"


def adjusted_p_value(p: float) -> str:
    """Return a p-value that is adjusted for the other tests of its family.

    Examples
    --------
    >>> adjusted_p_value(0.0031)
    'adjusted p = .003'
    """
    return p_value(p, of="adjusted p")


def list_text(items: Sequence[str], *, most: int = SHOWN) -> str:
    """Return items as an enumeration; those beyond `most` are counted, no items are "none".

    Examples
    --------
    >>> list_text(["MI"]), list_text(["MI", "Dice"]), list_text(["a", "b", "c", "d", "e"], most=3)
    ('MI', 'MI and Dice', 'a, b, c and 2 more')
    """
    if not items:
        return "none"
    parts = list(items[:most])
    if len(items) > most:
        parts.append(f"{len(items) - most:,} more")
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def best_at_all(names: Sequence[str], sizes: Sequence[int], *, of: int) -> str:
    """Return which of several measures are among the best at all sizes.

    Examples
    --------
    >>> best_at_all(["MI"], [100, 500], of=3)
    'MI is best, or not significantly worse than the best, at both sizes, 100 and 500'
    >>> best_at_all(["MI", "Dice", "LL", "t", "z"], [100, 500], of=5)[:47]
    'all 5 measures are best, or not significantly w'
    """
    who = f"{list_text(names)} {'is' if len(names) == 1 else 'are'}" if names else "no measure is"
    if SHOWN < len(names) == of:
        who = f"all {of:,} measures are"
    first, last = f"{sizes[0]:,}", f"{sizes[-1]:,}"
    span = f"all {len(sizes)} sizes from {first} to {last}"
    if len(sizes) == 2:
        span = f"both sizes, {first} and {last}"
    return f"{who} best, or not significantly worse than the best, at {span}"


def approximate(count: float) -> int:
    """Round an approximate number to two significant digits.

    Examples
    --------
    >>> approximate(1243), approximate(87), approximate(7)
    (1200, 87, 7)
    """
    return int(float(f"{count:.2g}"))


def spread(mean: float, deviation: float | None, runs: int) -> str:
    """Return the mean of a proportion over runs with its standard deviation.

    Examples
    --------
    >>> spread(0.6957, 0.0018, 3), spread(0.8833, None, 1)
    ('69.6 % (mean of 3 runs, standard deviation 0.2)', '88.3 %')
    """
    if runs < 2 or deviation is None:
        return per_cent(mean)
    return (
        f"{per_cent(mean)} (mean of {runs:,} runs, standard deviation {number(100 * deviation, 1)})"
    )


def sentence(text: str) -> str:
    """Return a text with an initial capital and a full stop.

    A name with its own spelling, for example t-score or logDice, keeps it.

    Examples
    --------
    >>> sentence("baseline 11.1 %"), sentence("t-score is worse"), sentence("log-likelihood, MI")
    ('Baseline 11.1 %.', 't-score is worse.', 'Log-likelihood, MI.')
    """
    whole = text if text.endswith((".", "?", "!")) else f"{text}."
    first = re.match(r"[^\W\d_]+", whole)
    plain = first is not None and len(first[0]) > 1 and first[0].islower()
    return whole[:1].upper() + whole[1:] if plain else whole


class Difference(NamedTuple):
    """The difference between two items, with its test.

    Parameters
    ----------
    name : str
        The name of the item.
    difference : float
        Its value minus the other's; proportion.
    p_adjusted : float
        p-value of that difference, adjusted for the other tests of the family.
    lower, upper : float or None
        Limits of the difference, for the same question as the test; None if there are none.
    """

    name: str
    difference: float
    p_adjusted: float
    lower: float | None = None
    upper: float | None = None

    @property
    def size(self) -> str:
        """The absolute difference with its limits, which exclude 0.

        Examples
        --------
        >>> Difference("MI", -0.124, 0.003, -0.166, -0.081).size, Difference("MI", 0.1, 0.003).size
        ('12.4 points [8.1, 16.6]', '10.0 points')
        >>> Difference("MI", -0.058, 0.041, -0.115, 0.0).size
        '5.8 points [>0, 11.5]'
        """
        phrase = f"{number(100 * abs(self.difference), 1)} points"
        if self.lower is None or self.upper is None:
            return phrase
        ends = (self.lower, self.upper) if self.difference > 0 else (-self.upper, -self.lower)
        if ends[0] == abs(self.difference) == ends[1]:
            return f"exactly {phrase}"
        low, high = (number(100 * end, 1) for end in ends)
        return f"{phrase} [{_beside_zero(low, 1.0)}, {high}]"


def worse(those: Sequence[Difference], *, alpha: float, than: str = "") -> str:
    """Say that some are worse than another one.

    Parameters
    ----------
    those : sequence of Difference
        At least one; each is below 0 and significant.
    alpha : float
        The level of the tests.
    than : str
        The other one, if the context leaves it open.

    Raises
    ------
    ValueError
        If a test does not support it.

    Examples
    --------
    >>> worse([Difference("MI", -0.124, 0.003)], alpha=0.05)
    'MI is worse (−12.4 points, adjusted p = .003)'
    >>> worse([Difference("MI", -0.124, 0.003), Difference("Dice", -0.06, 0.01)], alpha=0.05)
    'Dice and MI are worse (by 6.0 to 12.4 points, adjusted p ≤ .010)'
    >>> with_limits = [
    ...     Difference("MI", -0.124, 0.0003, -0.166, -0.081),
    ...     Difference("Dice", -0.06, 0.0001, -0.098, -0.021),
    ... ]
    >>> worse(with_limits[:1], alpha=0.05, than="Dice")
    'MI is worse than Dice by 12.4 points [8.1, 16.6], adjusted p < .001'
    >>> worse(with_limits, alpha=0.05)[:77]
    'Dice (by 6.0 points [2.1, 9.8]) and MI (by 12.4 points [8.1, 16.6]) are worse'
    """
    for each in those:
        _require_verdict(each, alpha, below=True)
    word = f"worse than {than}" if than else "worse"
    return _verdict(sorted(those, key=lambda each: -each.difference), word)


def better(those: Sequence[Difference], *, alpha: float, than: str = "") -> str:
    """Say that some are better than another one; arguments as for `worse`.

    Examples
    --------
    >>> better([Difference("t-score", 0.05, 0.001)], alpha=0.05)
    't-score is better (+5.0 points, adjusted p = .001)'
    """
    for each in those:
        _require_verdict(each, alpha, below=False)
    word = f"better than {than}" if than else "better"
    return _verdict(sorted(those, key=lambda each: each.difference), word)


def not_different(those: Sequence[Difference], *, alpha: float, of: str, than: str) -> str:
    """Say that some do not differ significantly from another one.

    Parameters
    ----------
    those : sequence of Difference
        At least one; none is significant.
    alpha : float
        The level of the tests.
    of : str
        What they are, in the singular, such as "list of the same size".
    than : str
        The other one.

    Raises
    ------
    ValueError
        If a test shows a difference.

    Examples
    --------
    >>> not_different([Difference("MI", 0.01, 0.4)], alpha=0.05, of="list", than="the set")
    '1 list does not differ significantly from the set: MI'
    """
    for each in those:
        if each.p_adjusted < alpha:
            raise ValueError(f"the test shows a difference of {each.name}: {each}")
    noun, _, rest = of.partition(" ")
    count = " ".join([count_text(len(those), noun), rest]).strip()
    verb = "does" if len(those) == 1 else "do"
    names = list_text([each.name for each in those])
    return f"{count} {verb} not differ significantly from {than}: {names}"


def _require_verdict(each: Difference, alpha: float, *, below: bool) -> None:
    # An undefined number fails every comparison, so the conditions are stated positively.
    right_side = each.difference < 0 if below else each.difference > 0
    if not (each.p_adjusted < alpha and right_side):
        word = "worse" if below else "better"
        raise ValueError(f"the test does not show that {each.name} is {word}: {each}")


def _verdict(those: Sequence[Difference], word: str) -> str:
    limited = all(each.lower is not None and each.upper is not None for each in those)
    if len(those) == 1:
        one = those[0]
        if limited:
            return f"{one.name} is {word} by {one.size}, {adjusted_p_value(one.p_adjusted)}"
        return (
            f"{one.name} is {word} ({points(one.difference)}, {adjusted_p_value(one.p_adjusted)})"
        )
    if limited:
        sizes = [f"{each.name} (by {each.size})" for each in those]
        return f"{list_text(sizes)} are {word}, {_largest_p(those)}"
    names = list_text([each.name for each in those])
    sizes = [number(100 * abs(each.difference), 1) for each in (those[0], those[-1])]
    span = " to ".join(dict.fromkeys(sizes))
    return f"{names} are {word} (by {span} points, {_largest_p(those)})"


def _largest_p(those: Sequence[Difference]) -> str:
    """Return the largest of the p-values as a phrase."""
    most = max(each.p_adjusted for each in those)
    phrase = p_value(most, of="").strip().removeprefix("= ")
    return f"adjusted p {phrase}" if phrase.startswith("<") else f"adjusted p ≤ {phrase}"


def against_baseline(test: Difference, *, alpha: float, how: str = "") -> str:
    """Say whether something is above or below a value just named, if its test shows a difference.

    Parameters
    ----------
    test : Difference
        The name, the difference and the p-value.
    alpha : float
        The level of the test.
    how : str
        How the difference is estimated, if it is not the difference of the numbers shown.

    Examples
    --------
    >>> against_baseline(Difference("the list", 0.193, 0.0001), alpha=0.05)
    'the list is 19.3 points above it (adjusted p < .001)'
    >>> against_baseline(Difference("the list", 0.02, 0.4), alpha=0.05)
    'the list does not differ significantly from it (+2.0 points, adjusted p = .400)'
    """
    name, difference, p = test[:3]
    further = "; ".join(part for part in (how, adjusted_p_value(p)) if part)
    if not (p < alpha and (difference < 0 or difference > 0)):
        return f"{name} does not differ significantly from it ({points(difference)}, {further})"
    side = "above" if difference > 0 else "below"
    return f"{name} is {number(abs(100 * difference), 1)} points {side} it ({further})"


def tied_names(names: Sequence[str]) -> str:
    """Return the names of the leaders, which may be tied.

    Examples
    --------
    >>> tied_names(["MI"]), tied_names(["MI", "Dice"])
    ('MI', 'MI and Dice (tied)')
    """
    return f"{list_text(names)}{' (tied)' if len(names) > 1 else ''}"


def not_separable(
    those: Mapping[str, float | None],
    small: Mapping[str, float | None] | None = None,
    *,
    best: Sequence[str],
    margin: float = 0.0,
) -> str:
    """Say which are not significantly worse than the best, or by less than the margin.

    Parameters
    ----------
    those, small : mapping of str to float or None
        Names with their estimates, proportions, None if there is none. `those` do not differ
        significantly from the best; `small` are worse by less than the margin.
    best : sequence of str
        Names of the best.
    margin : float
        The margin.

    Examples
    --------
    >>> not_separable({"t-score": 0.302}, best=["LL"])
    't-score (30.2 %) is not significantly worse than LL'
    >>> not_separable({"MI": None}, {"Dice": 0.3}, best=["LL"], margin=0.02)[61:]
    'Dice (30.0 %) is worse by less than the margin of 2.0 points'
    """
    parts = []
    for names, status in (
        (those, f"not significantly worse than {list_text(best)}"),
        (small or {}, f"worse by less than the margin of {number(100 * margin, 1)} points"),
    ):
        items = [
            f"{name} ({'0 or too few judged' if value is None else per_cent(value)})"
            for name, value in names.items()
        ]
        if items:
            parts.append(f"{list_text(items)} {'is' if len(items) == 1 else 'are'} {status}")
    return "; ".join(parts)


# Phrases for intervals of differences, and for the highest value, which is not a verdict.

SHOWN_RANGES = 3
"""Ranges of list sizes that a sentence shows; the others are counted."""


class Interval(NamedTuple):
    """The difference between two items, with its limits.

    Parameters
    ----------
    name : str
        The name of the item.
    difference : float
        Its value minus the other's; proportion.
    lower, upper : float or None
        Simultaneous limits for all differences examined; None if they cannot be estimated.
    """

    name: str
    difference: float
    lower: float | None
    upper: float | None

    @property
    def settled(self) -> bool:
        """Whether the interval excludes 0, which settles the sign of the difference.

        Examples
        --------
        >>> Interval("a", -0.1, -0.15, -0.03).settled, Interval("a", -0.1, -0.25, 0.0).settled
        (True, False)
        """
        if self.lower is None or self.upper is None:
            return False
        low, high = self.lower, self.upper
        return (low <= high < 0 and self.difference < 0) or (
            0 < low <= high and self.difference > 0
        )


def differs(those: Interval, *, than: str) -> str:
    """Say that something is better or worse than another one, by an interval.

    Raises
    ------
    ValueError
        If the interval includes 0 or has no limits.

    Examples
    --------
    >>> differs(Interval("computed", -0.102, -0.153, -0.036), than="typed")
    'computed is worse than typed (−10.2 points [−15.3, −3.6])'
    """
    if not those.settled:
        raise ValueError(f"the interval does not show the sign for {those.name}: {those}")
    side = "worse" if those.difference < 0 else "better"
    return f"{those.name} is {side} than {than} ({points_within(*those[1:])})"


def compare_by_interval(those: Interval, *, than: str) -> str:
    """Say whether something is better or worse than another one, if its interval shows it.

    Examples
    --------
    >>> compare_by_interval(Interval("computed", -0.01, -0.032, 0.011), than="typed")
    'computed does not differ significantly from typed (−1.0 points [−3.2, +1.1])'
    >>> compare_by_interval(Interval("computed", -0.01, None, None), than="typed")
    'computed differs from typed by −1.0 points, but no interval can be estimated'
    """
    if those.settled:
        return differs(those, than=than)
    if those.lower is None or those.upper is None:
        gap = points(those.difference)
        return f"{those.name} differs from {than} by {gap}, but no interval can be estimated"
    within = points_within(*those[1:])
    return f"{those.name} does not differ significantly from {than} ({within})"


def too_few_judgements(question: str, draws: int, fewest: int) -> str:
    """Say that a list has too few judged draws to name the best measure.

    Parameters
    ----------
    question : str
        The question.
    draws, fewest : int
        The judged draws in the list, and how many are needed.

    Examples
    --------
    >>> too_few_judgements("best for 100 candidates", 1, 5).partition("; ")[2]
    'the list with the highest estimate has 1 judged draw, fewer than 5.'
    """
    return sentence(
        f"{question}: too few judgements to name a measure; the list with the highest estimate has"
        f" {count_text(draws, 'judged draw')}, fewer than {fewest}"
    )


def highest(by: str, names: Sequence[str], value: str, *, lowest: bool = False) -> str:
    """Say which value ranks first: an order of estimates, not a verdict.

    Parameters
    ----------
    by : str
        The order: "at type level".
    names : sequence of str
        The names that have the value; several if they are tied.
    value : str
        The value, with its error if known.
    lowest : bool
        Whether low values are good.

    Examples
    --------
    >>> highest("at type level", ["endings"], "MacroI 88.3 %")
    'highest at type level: endings, MacroI 88.3 %'
    >>> highest("at token level", ["endings", "tree"], "VI 0.89", lowest=True)
    'lowest at token level: endings and tree (tied), VI 0.89'
    """
    tied = " (tied)" if len(names) > 1 else ""
    return f"{'lowest' if lowest else 'highest'} {by}: {list_text(names)}{tied}, {value}"


class Band(NamedTuple):
    """Limits of a difference that hold simultaneously at all these list sizes.

    Parameters
    ----------
    n : sequence of int
        The list sizes, ascending, without gaps.
    lower, upper : sequence of float
        The limits, proportions.
    """

    n: Sequence[int]
    lower: Sequence[float]
    upper: Sequence[float]

    def ranges_without_zero(self) -> list[tuple[int, int, int]]:
        """Return each range of sizes that excludes 0: first n, last n, the sign.

        Examples
        --------
        >>> Band([5, 6, 7, 8], [0.1, 0.1, -0.1, -0.4], [0.5, 0.4, 0.2, -0.1]).ranges_without_zero()
        [(5, 6, 1), (8, 8, -1)]
        """
        ranges: list[tuple[int, int, int]] = []
        before = 0
        for n, low, high in zip(self.n, self.lower, self.upper, strict=True):
            side = 1 if 0 < low <= high else -1 if low <= high < 0 else 0
            if side and side == before:
                ranges[-1] = (ranges[-1][0], n, side)
            elif side:
                ranges.append((n, n, side))
            before = side
        return ranges


def over_range(one: str, other: str, band: Band, *, confidence: float) -> str:
    """Say at which list sizes a simultaneous band of a difference excludes 0.

    This is not a verdict: the tests at the declared sizes are a different family.

    Examples
    --------
    >>> band = Band([5, 6, 7, 8], [0.1, 0.1, -0.1, 0.1], [0.5, 0.4, 0.2, 0.3])
    >>> over_range("t-score", "MI", band, confidence=0.95)
    'the simultaneous 95 % band of t-score minus MI (n from 5 to 8) is above 0 at n = 5 to 6 and 8'
    >>> over_range("t-score", "MI", band._replace(lower=[-0.1] * 4), confidence=0.95)
    'the simultaneous 95 % band of t-score minus MI (n from 5 to 8) includes 0 at every n'
    """
    ranges = band.ranges_without_zero()
    parts = []
    for side, word in ((1, "above"), (-1, "below")):
        mine = [(low, high) for low, high, way in ranges if way == side]
        if mine:
            parts.append(f"is {word} 0 at n = {_longest_ranges(mine)}")
    span = f"(n from {band.n[0]:,} to {band.n[-1]:,})"
    where = " and ".join(parts) or "includes 0 at every n"
    return f"the simultaneous {100 * confidence:g} % band of {one} minus {other} {span} {where}"


def _longest_ranges(ranges: Sequence[tuple[int, int]]) -> str:
    """Return the longest ranges in order, and the number of others."""
    longest = sorted(sorted(ranges, key=lambda each: each[0] - each[1])[:SHOWN_RANGES])
    parts = [f"{low:,} to {high:,}" if low < high else f"{low:,}" for low, high in longest]
    rest = len(ranges) - len(longest)
    return list_text([*parts, count_text(rest, "shorter range")] if rest else parts)


def of_two(one: str, test: Difference, *, alpha: float, margin: float = 0.0) -> str:
    """Say which of two is better, if the test shows it.

    Parameters
    ----------
    one : str
        The first of them.
    test : Difference
        The second, the first minus the second, and the p-value.
    alpha : float
        The level of the test.
    margin : float
        Smaller differences do not count, whatever their p-value.

    Examples
    --------
    >>> of_two("t-score", Difference("MI", 0.124, 0.003), alpha=0.05)
    't-score is better than MI (+12.4 points, adjusted p = .003)'
    >>> of_two("MI", Difference("t-score", -0.124, 0.003), alpha=0.05)
    'MI is worse than t-score (−12.4 points, adjusted p = .003)'
    >>> of_two("MI", Difference("Dice", 0.02, 0.3), alpha=0.05)
    'MI and Dice do not differ significantly (+2.0 points, adjusted p = .300)'
    >>> of_two("MI", Difference("Dice", 0.02, 0.001), alpha=0.05, margin=0.05)
    'MI and Dice differ by less than the margin of 5.0 points (+2.0 points, adjusted p = .001)'
    >>> limited = Difference("MI", 0.124, 0.003, 0.081, 0.166)
    >>> of_two("t-score", limited, alpha=0.05)
    't-score is better than MI (+12.4 points [+8.1, +16.6], adjusted p = .003)'
    """
    other, difference, p, lower, upper = test
    # An undefined number fails every comparison, so the conditions are stated positively.
    significant = p < alpha and (difference < 0 or difference > 0)
    within = points_within(difference, lower, upper, excludes_zero=significant)
    phrase = f"({within}, {adjusted_p_value(p)})"
    if not significant:
        return f"{one} and {other} do not differ significantly {phrase}"
    if abs(difference) < margin:
        least = number(100 * margin, 1)
        return f"{one} and {other} differ by less than the margin of {least} points {phrase}"
    return f"{one} is {'better' if difference > 0 else 'worse'} than {other} {phrase}"


def combination_finds(
    share: float,
    single: tuple[str, float],
    n: int,
    test: Difference | None,
    *,
    alpha: float,
    margin: float = 0.0,
    exact: bool = False,
) -> str:
    """Say what a combination finds beside the best single measure, and what the test shows.

    Parameters
    ----------
    share : float
        Precision of the list of the combination.
    single : (str, float)
        The measure with the highest precision, and its precision.
    n : int
        Size of both lists.
    test : Difference or None
        The first minus the second; None if it was not tested.
    alpha, margin
        As in `of_two`.
    exact : bool
        Whether all candidates of both lists are judged.

    Examples
    --------
    >>> of_both = 0.66, ("MI", 0.42), 100
    >>> test = Difference("", 0.24, 0.0002, 0.15, 0.33)
    >>> combination_finds(*of_both, test, alpha=0.05, exact=True)[:61]
    'the combination finds 66 true positives among the first 100, '
    >>> combination_finds(*of_both, test, alpha=0.05, exact=True)[61:]
    'the best single measure (MI) 42: +24.0 points [+15.0, +33.0], adjusted p < .001'
    >>> combination_finds(*of_both, test._replace(p_adjusted=0.2), alpha=0.05).partition(": ")[2]
    '+24.0 points [+15.0, +33.0], not significant (adjusted p = .200)'
    >>> combination_finds(*of_both, None, alpha=0.05).partition(": ")[2]
    'the difference was not tested'
    """
    about = "" if exact else "about "
    measure, beside = single
    text = (
        f"the combination finds {about}{number(n * share, 0)} true positives among the first {n:,},"
        f" the best single measure ({measure}) {number(n * beside, 0)}"
    )
    if test is None:
        return f"{text}: the difference was not tested"
    _, difference, p, lower, upper = test
    # An undefined number fails every comparison, so the conditions are stated positively.
    significant = p < alpha and (difference < 0 or difference > 0)
    within = points_within(difference, lower, upper, excludes_zero=significant)
    if not significant:
        return f"{text}: {within}, not significant ({adjusted_p_value(p)})"
    if abs(difference) < margin:
        return f"{text}: {within}, less than the margin of {number(100 * margin, 1)} points"
    return f"{text}: {within}, {adjusted_p_value(p)}"


def combination_learned_nothing(gain: float, labels: int) -> str:
    """Say that a combination predicts labels no better than their mean does.

    Parameters
    ----------
    gain : float
        Mean log-likelihood of a label under the model, minus that under the mean; nats.
    labels : int
        Number of labels.

    Examples
    --------
    >>> combination_learned_nothing(-0.0012, 510)[:72]
    'the combination has learned nothing from 510 labels: its models predict '
    """
    return (
        f"the combination has learned nothing from {count_text(labels, 'label')}: its models "
        f"predict the labels of other folds no better than their mean does ({gain:+.4f} nats per "
        "label), so its ranking is random; use a single measure, or judge more candidates"
    )


def equivalent(pair: tuple[str, str], test: Difference, *, alpha: float, bound: float) -> str:
    """Say that two are equivalent: they differ by less than a relevant difference.

    Parameters
    ----------
    pair : (str, str)
        The two names.
    test : Difference
        The first minus the second, and the p-value of the two one-sided tests.
    alpha : float
        The level of the tests.
    bound : float
        The smallest relevant difference.

    Raises
    ------
    ValueError
        If the test does not show it.

    Examples
    --------
    >>> equivalent(
    ...     ("Dice", "MI"), Difference("", 0.002, 0.01, -0.019, 0.023), alpha=0.05, bound=0.03
    ... )
    'Dice and MI are equivalent within 3 points (+0.2 points [−1.9, +2.3], adjusted p = .010)'
    """
    if not (test.p_adjusted < alpha and abs(test.difference) < bound):
        raise ValueError(f"the test does not show that {' and '.join(pair)} are equivalent: {test}")
    within = points_within(test.difference, test.lower, test.upper)
    phrase = f"{within}, {adjusted_p_value(test.p_adjusted)}"
    return f"{' and '.join(pair)} are equivalent within {100 * bound:g} points ({phrase})"
