"""A remark: what looks wrong in the data of a stage, with numbers, an example and a remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

Level: TypeAlias = Literal["info", "note", "warning"]
"""How much it matters: worth knowing, to be looked at, probably a mistake."""
LEVELS: tuple[Level, ...] = ("warning", "note", "info")
"""All of them, what matters most first."""
_PROSE = re.compile(r"[a-z]+,? (?!=)")
EXAMPLES = 3
"""Examples that a remark has."""


class Remark(BaseModel):
    """What looks wrong in the data of a stage; kept with its results, told at every run.

    Examples
    --------
    >>> print(Remark(level="note", check="few_sampled", text="79 of 100 were drawn",
    ...              such_as=("aasvoel",), remedy="ask for fewer", numbers={"drawn": 79}))
    note: 79 of 100 were drawn, such as aasvoel; ask for fewer [few_sampled]
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    check: str = ""
    """What found it: the name by which its threshold is set."""
    level: Level
    """How much it matters."""
    text: str
    """What there is, with its numbers."""
    such_as: tuple[str, ...] = ()
    """Examples."""
    remedy: str = ""
    """What to do about it."""
    numbers: dict[str, float] = {}
    """The numbers of the text by name, for programs."""

    @property
    def finding(self) -> str:
        """What there is, with the examples."""
        return self.text + (f", such as {', '.join(self.such_as)}" if self.such_as else "")

    @property
    def advice(self) -> str:
        """What to do about it, as a sentence; an option at its beginning keeps its spelling."""
        text = self.remedy
        sentence = text[:1].upper() + text[1:] if _PROSE.match(text) else text
        return sentence if sentence.endswith(tuple(".?!")) else f"{sentence}."

    def __str__(self) -> str:
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.level}: {self.finding}{remedy} [{self.check}]"


def remark(
    level: Level, text: str, *, such_as: Iterable[object] = (), remedy: str = "", **numbers: float
) -> Remark:
    """Return what a check has to say; whose word it is, is put in when it is heard.

    Parameters
    ----------
    level : {"info", "note", "warning"}
        How much it matters.
    text : str
        What there is, with its numbers.
    such_as : iterable
        Examples, of which the first three are kept.
    remedy : str
        What to do about it.
    numbers : float
        The numbers of the text, by name.
    """
    examples = tuple(str(each) for each in such_as)[:EXAMPLES]
    return Remark(level=level, text=text, such_as=examples, remedy=remedy, numbers=numbers)
