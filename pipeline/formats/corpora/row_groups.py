"""Parquet files cut into parts at row groups: a sentence is of the part in which it begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import polars as pl

from pipeline.formats.corpora.blocks import FrameBlock, Range
from pipeline.formats.corpora.carry import Carry
from pipeline.formats.corpora.file_parts import Bound, Course, Division, FilePart, Run, between
from pipeline.formats.corpora.hashes import Hashes, hashes_of
from pipeline.formats.corpora.outlines import outline
from pipeline.formats.corpora.parsing import Grammar
from pipeline.formats.parquet import RowGroup


def divided(
    blocks: Iterable[FrameBlock],
    grammar: Grammar,
    key: Sequence[str],
    groups: Sequence[RowGroup],
    size: int,
) -> Sequence[FilePart]:
    """Return the parts of a file without digests; none if it has to be read as a whole.

    Parameters
    ----------
    blocks : iterable of FrameBlock
        The rows, whole sentences, with the columns that say where tokens stand.
    grammar : Grammar
        How these are read.
    key : sequence of str
        The columns whose change begins a sentence.
    groups : sequence of RowGroup
        The row groups of the file.
    size : int
        About how many bytes a part should have.
    """
    course, row = Course(Carry(), Run()), 0
    bounds = [Bound(0, 0, course)]
    with Hashes() as keys:
        for begins, rows in _pieces(blocks, key, _due(groups, size)):
            outlined = outline(FrameBlock(rows), grammar)
            if outlined is None:
                return ()
            if begins:
                bounds.append(Bound(row, row, course))
            row, course = row + rows.height, course.after(outlined)
            keys.add(hashes_of(outlined))
        if len(bounds) == 1 or not course.run.start or len(keys.repeated()):
            return ()
    return [_in_groups(part, groups) for part in between([*bounds, Bound(row, row, course)])]


def with_digests(parts: Sequence[FilePart], path: Path) -> Division:
    """Return the division of a file into these parts."""
    return Division([replace(part, digest=part.content(path)) for part in parts])


def _due(groups: Sequence[RowGroup], size: int) -> list[int]:
    """Return the first rows of groups with which a part should begin."""
    due, start = list[int](), groups[0].start if groups else 0
    for group in groups[1:]:
        if group.start - start >= size * (len(due) + 1):
            due.append(group.row)
    return due


def _pieces(
    blocks: Iterable[FrameBlock], key: Sequence[str], due: Sequence[int]
) -> Iterator[tuple[bool, pl.DataFrame]]:
    """Yield rows, and whether a part begins with them: at the first sentence after what is due."""
    row, late = 0, False
    for block in blocks:
        rows, height = block.rows, block.rows.height
        starts = rows.select(pl.struct(key).rle_id().is_first_distinct().arg_true())
        firsts = [*starts.to_series(), height]
        own = [each - row for each in due if row <= each < row + height]
        begins = {next(first for first in firsts if first >= each) for each in own}
        begins |= {0} if late else set()
        for start, end in pairwise(sorted({0, *begins, height})):
            yield start in begins, rows[start:end]
        row, late = row + height, height in begins


def _in_groups(part: FilePart, groups: Sequence[RowGroup]) -> FilePart:
    """Return a part of rows with the bytes of the groups that hold them."""
    first, after = part.range.start, part.range.end
    own = [each for each in groups if each.row < after and each.row + each.rows > first]
    within = Range(min(each.start for each in own), max(each.end for each in own), first)
    return replace(part, range=within, rows=after - first)
