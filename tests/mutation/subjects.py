"""All that is mutated."""

from __future__ import annotations

from tests.mutation import (
    cluster_subjects,
    command_subjects,
    corpus_subjects,
    lexicon_subjects,
    machine_subjects,
    result_subjects,
    sheet_subjects,
    table_subjects,
)
from tests.mutation.subject import Subject

SUBJECTS: tuple[Subject, ...] = (
    *table_subjects.SUBJECTS,
    *corpus_subjects.SUBJECTS,
    *cluster_subjects.SUBJECTS,
    *lexicon_subjects.SUBJECTS,
    *sheet_subjects.SUBJECTS,
    *result_subjects.SUBJECTS,
    *command_subjects.SUBJECTS,
    *machine_subjects.SUBJECTS,
)
