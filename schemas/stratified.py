"""Strata of candidates, and the samples drawn from them."""

from __future__ import annotations

from schemas.annotation import DrawnCandidates
from schemas.base import Table, column
from schemas.candidates import CandidateIds


class Strata(CandidateIds, further=()):
    """The stratum of each candidate."""

    stratum: str = column("stratum, e.g. a range of ranks")


class StratifiedSample(
    DrawnCandidates,
    further=(),
    instead=(
        "its draws have different chances: evaluate.designed estimates from them; choose measure "
        "and list size from its table cuts"
    ),
):
    """The sampled candidates with their strata.

    Not a `Sample`: sampling rates differ between strata, so estimates for simple random samples do
    not apply.
    """

    multiplicity: int = column("times drawn: 1, without replacement", ge=1, le=1)
    position: int = column("1-based order, stratum by stratum", ge=1)
    pi: float = column("draws from the stratum / candidates in it", gt=0, le=1)
    stratum: str = column("stratum of the draw")


class StratumSizes(Table):
    """Candidates and draws of each stratum."""

    stratum: str = column("stratum", key=True)
    n_candidates: int = column("candidates in the stratum", ge=0)
    n_drawn: int = column("draws from it", ge=0)
