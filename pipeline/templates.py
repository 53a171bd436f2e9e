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

_DIGITS = r"[-+]?\d+(?:[._]\d+)?"


@dataclass(frozen=True)
class Numbers:
    """The numbers that a template takes.

    Parameters
    ----------
    decimals : int
        How many digits may follow the point; 0 for whole numbers.
    above : int
        What they are larger than.
    most : int
        The largest.

    Examples
    --------
    >>> Numbers().read("50"), Numbers(decimals=3).read("2.50"), Numbers(decimals=3).read("1_5")
    (50, Fraction(5, 2), Fraction(3, 2))
    >>> str(Numbers()), str(Numbers(decimals=3))
    ('a whole number from 1 to 1,000,000', 'a number from 0.001 to 1,000,000')
    """

    decimals: int = 0
    above: int = 0
    most: int = 1_000_000

    def read(self, text: str) -> Number | None:
        """Return the number that a text stands for; None if it is none of these.

        In names ``_`` stands for the decimal point.
        """
        if not re.fullmatch(_DIGITS, text):
            return None
        number = Fraction(text.replace("_", "."))
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
    >>> [steps.number(typed) for typed in ("step(3)", "step_3", "Step.3.pv", "step", "stepping")]
    [3, 3, 3, None, None]
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
        forms = (f"{self.name}({{n}})", f"{self.name}_{{n}}", *self.spellings)
        return "|".join(_escaped(form, f"({_DIGITS})") for form in forms)

    def named(self, number: Number) -> str:
        """Return the name of the thing with this number; it can be the name of a column."""
        return f"{self.name}_{self.numbers.write(number).replace('.', '_')}"

    def number(self, typed: str) -> Number | None:
        """Return the number in what was typed; None if it does not mean a thing of the family.

        Raises
        ------
        ValueError
            If it does, but without a number or with another than the family has; what to type.
        """
        found = re.fullmatch(self.pattern, typed)
        if found is None and not re.fullmatch(_escaped(f"{self.name}({{n}})", ".*"), typed):
            if typed != self.name:
                return None
            raise ValueError(f"type {self.label}, {self.explained}")
        number = self.numbers.read(next(filter(None, found.groups()))) if found else None
        if number is None:
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
