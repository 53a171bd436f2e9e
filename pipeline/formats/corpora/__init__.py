"""Corpora: files with tokens. Imports for additional formats come from here."""

from pipeline.formats.corpora.corpus_format import corpus_format
from pipeline.formats.corpora.rules import UNIT, Rule, Unique
from pipeline.formats.lines import TEXT

__all__ = ["TEXT", "UNIT", "Rule", "Unique", "corpus_format"]
