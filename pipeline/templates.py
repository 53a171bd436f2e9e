"""Names with a number in them: families of things that one function makes, such as mi_conf(n)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")
Number: TypeAlias = int | Fraction
"""Whole numbers are int; both have ``numerator`` and ``denominator``."""

_DIGITS, _IN_NAMES = r"[-+]?\d+(?:\.\d+)?", r"[-+]?\d+(?:_\d+)?"


@dataclass(frozen=True)
class Numbers:
    """The numbers that a template takes.

    Parameters
    ----------
    decimals : int
        How many digits may follow the point; 0 for whole numbers.
    above : int
        What they are larger than, from 0.
    most : int
        The largest.

    Examples
    --------
    >>> Numbers().read("50"), Numbers().read("2.5"), Numbers(decimals=3).read("2.50")
    (50, None, Fraction(5, 2))
    >>> str(Numbers()), str(Numbers(decimals=3))
    ('a whole number from 1 to 1,000,000', 'a number from 0.001 to 1,000,000')
    """

    decimals: int = 0
    above: int = 0
    most: int = 1_000_000

    def read(self, text: str) -> Number | None:
        """Return the number that a text stands for; None if it is none of these."""
        if not re.fullmatch(_DIGITS, text):
            return None
        number = Fraction(text)
        if not self.above < number <= self.most or (number * 10**self.decimals).denominator > 1:
            return None
        return int(number) if number.denominator == 1 else number

    def write(self, number: Number) -> str:
        """Return the number as a decimal, without zeros at its end.

        Examples
        --------
        >>> Numbers().write(50), Numbers(decimals=3).write(Fraction(5, 2))
        ('50', '2.5')
        """
        whole, rest = divmod(
            number.numerator * 10**self.decimals // number.denominator, 10**self.decimals
        )
        tail = f"{rest:0{self.decimals}d}".rstrip("0") if rest else ""
        return f"{whole}.{tail}" if tail else str(whole)

    def __str__(self) -> str:
        least = self.write(self.above + Fraction(1, 10**self.decimals))
        return f"a {'' if self.decimals else 'whole '}number from {least} to {self.most:,}"


@dataclass(frozen=True)
class Template(Generic[T]):
    """A family of things with a number in their name.

    Parameters
    ----------
    name : str
        What their names begin with: mi_conf of mi_conf_5.
    numbers : Numbers
        The numbers that they can have.
    make : callable
        (name, number) -> thing.
    shown : T
        What stands for all of them in a list.
    spellings : sequence of str
        What else people type, ``{n}`` in the place of the number: ``MI.conf.{n}``.

    Examples
    --------
    >>> steps = Template("step", Numbers(), lambda name, n: n, shown=0, spellings=["Step.{n}.pv"])
    >>> [steps.number(typed) for typed in ("step(3)", "step_3", "Step.3.pv", "stepping")]
    [3, 3, 3, None]
    >>> steps.named(3), steps.label
    ('step_3', 'step(n)')
    """

    name: str
    numbers: Numbers
    make: Callable[[str, Number], T]
    shown: T
    spellings: Sequence[str] = ()

    @property
    def label(self) -> str:
        """How a list names the family."""
        return f"{self.name}(n)"

    @cached_property
    def pattern(self) -> str:
        """What is typed for a thing of the family, as a regular expression."""
        typed = (_escaped(form, f"({_DIGITS})") for form in (self._called, *self.spellings))
        return "|".join([*typed, f"{re.escape(self.name)}_({_IN_NAMES})"])

    @property
    def _called(self) -> str:
        return f"{self.name}({{n}})"

    def named(self, number: Number) -> str:
        """Return the name of the thing with this number: that of a column, ``_`` for the point."""
        return f"{self.name}_{self.numbers.write(number).replace('.', '_')}"

    def number(self, typed: str) -> Number | None:
        """Return the number in what was typed; None if it does not mean a thing of the family.

        Raises
        ------
        ValueError
            If it does, but without a number or with another than the family has; what to type.
        """
        found = re.fullmatch(self.pattern, typed)
        if typed == self.name:
            raise ValueError(f"type {self.label}, {self.explained}")
        if found is None and not re.fullmatch(_escaped(self._called, ".*"), typed):
            return None
        text = next(filter(None, found.groups())) if found else ""
        number = self.numbers.read(text.replace("_", "."))
        # Who types name_1_000 means no 1: a name is the very name.
        foreign = typed.startswith(f"{self.name}_") and number and self.named(number) != typed
        if number is None or foreign:
            raise ValueError(f"in {self.label}, {self.explained}")
        return number

    @property
    def explained(self) -> str:
        """What n is."""
        return f"n is {self.numbers}"

    def member(self, name: str) -> Number | None:
        """Return the number of the thing that has this very name, as `named` gives it, or None."""
        try:
            number = self.number(name)
        except ValueError:
            return None
        return number if number is not None and self.named(number) == name else None


class Templates(dict[str, Template[T]]):
    """Templates by their labels."""

    def member(self, name: str) -> tuple[Template[T], Number] | None:
        """Return the family that the thing of this very name belongs to, and its number."""
        return self._first(name, Template.member)

    def meant(self, typed: str) -> tuple[Template[T], Number] | None:
        """Return the family of the thing that is meant by what was typed, and its number.

        Raises
        ------
        ValueError
            If the family has no such number.
        """
        return self._first(typed, Template.number)

    def _first(
        self, text: str, number: Callable[[Template[T], str], Number | None]
    ) -> tuple[Template[T], Number] | None:
        found = ((each, number(each, text)) for each in self.values())
        return next(((each, n) for each, n in found if n is not None), None)


def _escaped(form: str, number: str) -> str:
    before, _, after = form.partition("{n}")
    return f"{re.escape(before)}{number}{re.escape(after)}"
