"""The vocabulary of lexassay: one table, one file, one pandera model."""

from schemas.agreement import Agreement, Disagreements
from schemas.base import Table
from schemas.candidates import Candidates, Identified, Pool, Scores, Signatures
from schemas.choice import Choice, ListRows
from schemas.clustering_tables import ClusterOverlaps, WorstItems
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
from schemas.comparison import (
    BaselineComparison,
    BestMeasures,
    Comparison,
    CutBaselineComparison,
    CutComparison,
)
from schemas.counts import CorpusSize, Examples, PairCounts, UnitCounts
from schemas.coverage import Coverage
from schemas.entries import (
    GoldEntries,
    GoldSentences,
    InducedEntries,
    SystemSize,
    TaggedSentences,
    TaggedTypes,
    TokenSentences,
    TokenTags,
)
from schemas.errors import LexassayError, SchemaViolation, Violation
from schemas.faults import Faults
from schemas.judgements import Judgements
from schemas.keying import KeyedEntries, KeyedLemmas, KeyingRows
from schemas.lexicon_comparison import LexiconComparison, LexiconDifferences, LexiconLemmas
from schemas.lexicon_quality import (
    ExpectedWidths,
    LemmaForms,
    LemmaScores,
    LexiconIntervals,
    LexiconQuality,
    LexiconTrends,
)
from schemas.lexicons import LemmaList, LemmaSample, LexiconOverlaps, Preparation, WordList
from schemas.nbest_lists import CutLists, LocalPrecision, Recall, Thresholds
from schemas.precision import Baseline, Precision
from schemas.ranks import PooledRanks, Ranks
from schemas.samples import Sample
from schemas.sheets import Adjudicated, Annotations, Labels, SheetEntries, SheetRows
from schemas.stratified import (
    Strata,
    StratifiedComparison,
    StratifiedPrecision,
    StratifiedSample,
    StratumSizes,
)
from schemas.subsets import SubsetComparison, SubsetPrecision
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
    "Choice",
    "ClassScores",
    "ClassShares",
    "ClusterMapping",
    "ClusterOverlaps",
    "Comparison",
    "CorpusSize",
    "Coverage",
    "CutBaselineComparison",
    "CutComparison",
    "CutLists",
    "Disagreements",
    "Examples",
    "ExpectedWidths",
    "Faults",
    "FrequentTypes",
    "GoldEntries",
    "GoldSentences",
    "Identified",
    "InducedEntries",
    "ItemScores",
    "Judgements",
    "KeyedEntries",
    "KeyedLemmas",
    "KeyingRows",
    "Labels",
    "LemmaForms",
    "LemmaList",
    "LemmaSample",
    "LemmaScores",
    "LexassayError",
    "LexiconComparison",
    "LexiconDifferences",
    "LexiconIntervals",
    "LexiconLemmas",
    "LexiconOverlaps",
    "LexiconQuality",
    "LexiconTrends",
    "ListRows",
    "LocalPrecision",
    "MeasureCorrelations",
    "OverlappingScores",
    "PairCounts",
    "Pool",
    "PooledRanks",
    "Precision",
    "Preparation",
    "Ranks",
    "Recall",
    "Sample",
    "SchemaViolation",
    "Scores",
    "SheetEntries",
    "SheetRows",
    "Signatures",
    "Strata",
    "StratifiedComparison",
    "StratifiedPrecision",
    "StratifiedSample",
    "StratumSizes",
    "SubsetComparison",
    "SubsetPrecision",
    "SystemSize",
    "SystemTable",
    "Table",
    "TaggedSentences",
    "TaggedTypes",
    "Thresholds",
    "TokenLevel",
    "TokenMapping",
    "TokenSentences",
    "TokenTags",
    "Tokens",
    "TupleCounts",
    "TupleScores",
    "Tuples",
    "TypeLevel",
    "UnitCounts",
    "Violation",
    "WordList",
    "WorstItems",
]
