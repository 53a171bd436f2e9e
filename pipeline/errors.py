"""The few error types, and how a message is put together."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from schemas.errors import LexassayError, SchemaViolation, Violation

__all__ = [
    "ConfigError",
    "DataError",
    "Interrupted",
    "LexassayError",
    "NotMadeYet",
    "Problem",
    "SchemaViolation",
    "StageFailed",
    "StoreError",
    "UnknownName",
    "Violation",
    "WaitsForPerson",
    "Warned",
    "WorkerLost",
    "did_you_mean",
]


@dataclass(frozen=True)
class Problem:
    """One mistake: where it is, what is wrong, and what to do.

    Parameters
    ----------
    where : str
        A dotted path of the configuration, or a file with its line.
    what : str
        What is wrong, with the offending value.
    remedy : str
        What to do about it; may be empty.
    """

    where: str
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f"; {self.remedy}" if self.remedy else "")

    def within(self, path: str) -> Problem:
        """Return the same mistake, with the path of what it is a part of.

        Examples
        --------
        >>> str(Problem("rate", "2 is too large").within("stages.sample"))
        'stages.sample.rate: 2 is too large'
        """
        return Problem(f"{path}.{self.where}", self.what, self.remedy)


class ConfigError(LexassayError):
    """The experiment or the command is wrong: all its mistakes at once.

    Parameters
    ----------
    source : str
        The file (or command) that has the mistakes.
    problems : sequence of Problem
        Every mistake that was found.
    """

    exit_code = 2

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        count = len(self.problems)
        lines = "".join(f"\n  - {problem}" for problem in self.problems)
        super().__init__(f"{source}: {count} mistake{'s' if count != 1 else ''}{lines}")


class DataError(LexassayError):
    """The input data are wrong: what, where, how many, examples, what to do."""


class StageFailed(LexassayError):
    """A stage raised an error that is nobody's known mistake.

    Parameters
    ----------
    stage : str
        Name of the stage in the experiment.
    cause : BaseException
        What it raised.
    why : str
        The same in our words; its own if empty.
    """

    def __init__(self, stage: str, cause: BaseException, why: str = "") -> None:
        self.stage = stage
        super().__init__(f"stage {stage} failed: {why or f'{type(cause).__name__}: {cause}'}")


class Warned(LexassayError):
    """A check warns of what a stage made, and the run is strict.

    Parameters
    ----------
    stage : str
        Name of the stage in the experiment.
    warnings : sequence
        What the checks say.
    """

    def __init__(self, stage: str, warnings: Sequence[object]) -> None:
        self.stage = stage
        lines = "".join(f"\n  - {each}" for each in warnings)
        count = f"{len(warnings)} warning{'s' if len(warnings) != 1 else ''}"
        super().__init__(f"stage {stage}: {count}, and the run is strict{lines}")


class StoreError(LexassayError):
    """The results cannot be written or read: disk full, read-only folder, damage."""


class WorkerLost(LexassayError):
    """Processes that worked on a task died, again and again."""


class Interrupted(LexassayError):
    """Somebody pressed Ctrl-C, or asked the process to stop."""

    exit_code = 130


class NotMadeYet(ConfigError):
    """A table is asked for whose stage has not been run, or waits.

    Parameters
    ----------
    table : str
        As it was asked for: "stage" or "stage.table".
    """

    def __init__(self, table: str) -> None:
        self.table = table
        problem = Problem(
            table, "has not been made yet", "lexassay run makes it, or says what it waits for"
        )
        super().__init__("show", [problem])

    @property
    def stage(self) -> str:
        """The stage that makes the table."""
        return self.table.partition(".")[0]


class WaitsForPerson(LexassayError):
    """A stage needs what a person has yet to type.

    Parameters
    ----------
    file : str
        The sheet that waits.
    missing : int
        How many it waits for.
    what : str
        What it waits for, in the singular.
    whose : mapping of str to int, optional
        Who is asked, and how many rows of theirs are empty.
    such_as : sequence of str, optional
        The first of what is missing, as people know it.
    remedy : str
        How to go on without.

    Examples
    --------
    >>> print(WaitsForPerson("sheets/x", 3, whose={"anna": 2, "ben": 1}, such_as=["take care"]))
    sheets/x waits for 3 labels: 2 of anna, 1 of ben; such as take care
    """

    exit_code = 3

    def __init__(
        self,
        file: str,
        missing: int,
        what: str = "label",
        whose: Mapping[str, int] | None = None,
        such_as: Sequence[str] = (),
        *,
        remedy: str = "",
    ) -> None:
        self.file = file
        self.missing = missing
        self.what = what
        self.whose = dict(whose or {})
        self.such_as = tuple(such_as)
        self.remedy = remedy
        super().__init__(f"{file} {self.text}")

    @property
    def text(self) -> str:
        """What it waits for, without the place."""
        people = ", ".join(f"{number:,} of {name}" for name, number in self.whose.items())
        some = f"such as {'; '.join(self.such_as)}" if self.such_as else ""
        more = "; ".join(filter(None, [people, some, self.remedy]))
        count = f"waits for {self.missing:,} {self.what}{'s' if self.missing != 1 else ''}"
        return f"{count}: {more}" if more else count

    def at(self, place: str) -> WaitsForPerson:
        """Return the same with the place as it is on this machine."""
        known = (self.missing, self.what, self.whose, self.such_as)
        return WaitsForPerson(place, *known, remedy=self.remedy)


class UnknownName(KeyError, ValueError):
    """Nothing is registered by a name; an option with such a name has a wrong value."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError shows its message in quotes


def did_you_mean(
    name: str, known: Iterable[str], *, spellings: Mapping[str, str] | None = None, most: int = 3
) -> str:
    """Return the remedy for an unknown name: the nearest valid ones, or all of a few.

    Parameters
    ----------
    name : str
        What was typed.
    known : iterable of str
        The valid names.
    spellings : mapping of str to str, optional
        What else may be typed, and the name that it stands for.
    most : int
        How many suggestions at the most.

    Examples
    --------
    >>> did_you_mean("t_scor", ["t_score", "z_score", "dice"])
    'did you mean t_score, z_score?'
    >>> did_you_mean("pure", ["many_to_one"], spellings={"purity": "many_to_one"})
    'did you mean many_to_one?'
    >>> did_you_mean("xyz", ["left", "right"])
    'valid: left, right'
    """
    names = sorted(set(known))
    meant = {each: each for each in names} | dict(spellings or {})
    folded = {typed.casefold(): meant[typed] for typed in sorted(meant, reverse=True)}
    near = difflib.get_close_matches(name.casefold(), folded, n=max(len(folded), 1), cutoff=0.6)
    if found := list(dict.fromkeys(folded[match] for match in near))[:most]:
        return f"did you mean {', '.join(found)}?"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"valid: {shown}" if names else "none is known"
