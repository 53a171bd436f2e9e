"""A case: a number and a seed give a subject, what is changed in it, and the command that is run."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.mutation.subject import Subject
from tests.mutation.subjects import SUBJECTS

REAL = 20
"""One case in so many is run by the command in a process of its own."""


@dataclass(frozen=True)
class Case:
    """What is done in one case.

    Parameters
    ----------
    subject : Subject
        What is mutated.
    command : list of str
        The words after ``lexassay``.
    mutated : str
        The file that was changed; empty if it is the command.
    real : bool
        Whether it is run in a process of its own.
    """

    subject: Subject
    command: list[str]
    mutated: str
    real: bool


def make(seed: str, number: int, bases: Path, folder: Path) -> Case:
    """Make the folder of a case, mutated, and return what is to be done in it.

    Parameters
    ----------
    seed, number : str, int
        They alone say what the case is.
    bases : Path
        The folder of each subject, as it is before anything is mutated.
    folder : Path
        Where the case is made.
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
