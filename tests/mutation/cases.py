"""A case: a number and a seed determine a subject, a change of it, and a command."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.mutation.subject import Subject
from tests.mutation.subjects import SUBJECTS

REAL = 20
"""One case in so many runs the command in a separate process."""


@dataclass(frozen=True)
class Case:
    """The contents of one case.

    Parameters
    ----------
    subject : Subject
        The experiment that is mutated.
    command : list of str
        The words after ``lexassay``.
    mutated : str
        The file that was changed; empty if it is the command.
    real : bool
        Whether the command is run in a separate process.
    """

    subject: Subject
    command: list[str]
    mutated: str
    real: bool


def make(seed: str, number: int, bases: Path, folder: Path) -> Case:
    """Create the mutated folder of a case, and return the case.

    Parameters
    ----------
    seed, number : str, int
        These alone determine the case.
    bases : Path
        The unchanged folders of the subjects.
    folder : Path
        The new folder of the case.
    """
    random = Random(f"{seed}:{number}")
    subject = random.choices(SUBJECTS, [each.weight for each in SUBJECTS])[0]
    shutil.copytree(bases / subject.name, folder, symlinks=True)
    real = number % REAL == 0
    if subject.word is not None:
        return Case(subject, subject.word(random, list(subject.command)), "", real)
    pattern = random.choice(sorted(subject.targets))
    path = random.choice(sorted(each for each in folder.glob(pattern) if each.is_file()))
    content = path.read_bytes()
    path.write_bytes(subject.targets[pattern](random, content))
    return Case(subject, list(subject.command), str(path.relative_to(folder)), real)
