"""The vocabulary of lexassay: one table, one file, one pandera model."""

from schemas.agreement import Agreement, Disagreements
from schemas.base import Table
from schemas.candidates import Candidates, Identified, Scores, Signatures
from schemas.comparison import BaselineComparison, BestMeasures, Comparison, CutComparison
from schemas.counts import CorpusSize, Examples, PairCounts, UnitCounts
from schemas.coverage import Coverage
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
    "Comparison",
    "CorpusSize",
    "Coverage",
    "CutComparison",
    "Disagreements",
    "Examples",
    "ExpectedWidths",
    "Faults",
    "Identified",
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
    "PairCounts",
    "Precision",
    "Preparation",
    "Ranks",
    "Sample",
    "SchemaViolation",
    "Scores",
    "SheetEntries",
    "SheetRows",
    "Signatures",
    "Strata",
    "StratifiedPrecision",
    "Table",
    "Tokens",
    "TupleCounts",
    "TupleScores",
    "Tuples",
    "UnitCounts",
    "Violation",
    "WordList",
]
