"""The vocabulary of lexassay: one table, one file, one pandera model."""

from schemas.agreement import Agreement, Disagreements
from schemas.base import Table
from schemas.candidates import Candidates, Identified, Scores, Signatures
from schemas.clustering_token import (
    ClassShares,
    FrequentTypes,
    MeasureCorrelations,
    OverlappingScores,
    SystemTable,
    TokenLevel,
    TokenMapping,
)
from schemas.clustering_types import ClassScores, ClusterMapping, ItemScores, TypeLevel
from schemas.comparison import BaselineComparison, BestMeasures, Comparison, CutComparison
from schemas.counts import CorpusSize, Examples, PairCounts, UnitCounts
from schemas.coverage import Coverage
from schemas.errors import LexassayError, SchemaViolation, Violation
from schemas.faults import Faults
from schemas.judgements import Judgements
from schemas.precision import Baseline, Precision
from schemas.ranks import Ranks
from schemas.samples import Sample
from schemas.sheets import Adjudicated, Annotations, Labels, SheetEntries, SheetRows
from schemas.stratified import Strata, StratifiedPrecision
from schemas.tokens import Tokens
from schemas.tuple_counts import TupleCounts
from schemas.tuples import Tuples, TupleScores

__all__ = [
    "Adjudicated",
    "Agreement",
    "Annotations",
    "Baseline",
    "BaselineComparison",
    "BestMeasures",
    "Candidates",
    "ClassScores",
    "ClassShares",
    "ClusterMapping",
    "Comparison",
    "CorpusSize",
    "Coverage",
    "CutComparison",
    "Disagreements",
    "Examples",
    "Faults",
    "FrequentTypes",
    "Identified",
    "ItemScores",
    "Judgements",
    "Labels",
    "LexassayError",
    "MeasureCorrelations",
    "OverlappingScores",
    "PairCounts",
    "Precision",
    "Ranks",
    "Sample",
    "SchemaViolation",
    "Scores",
    "SheetEntries",
    "SheetRows",
    "Signatures",
    "Strata",
    "StratifiedPrecision",
    "SystemTable",
    "Table",
    "TokenLevel",
    "TokenMapping",
    "Tokens",
    "TupleCounts",
    "TupleScores",
    "Tuples",
    "TypeLevel",
    "UnitCounts",
    "Violation",
]
