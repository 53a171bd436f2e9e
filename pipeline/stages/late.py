"""Options that nothing looks at before all is counted."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.stages.base import StageConfig


@dataclass(frozen=True)
class Late:
    """Marks an option that of a counting stage `Counting.combine` alone looks at.

    The counts are the same whatever its value, so that with another one nothing is counted again.
    """


def late_options(config: type[StageConfig]) -> frozenset[str]:
    """Return the options that are marked so.

    Parameters
    ----------
    config : type of StageConfig
        The options of a stage.

    Examples
    --------
    >>> from pipeline.stages.collocations.extract_pairs import ExtractPairs
    >>> sorted(late_options(ExtractPairs))
    ['min_frequency']
    """
    fields = config.model_fields.items()
    return frozenset(
        name for name, field in fields if any(isinstance(mark, Late) for mark in field.metadata)
    )
