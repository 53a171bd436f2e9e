"""Corpora: files with tokens. What a format of one's own needs is imported from here."""

from pipeline.formats.corpora.corpus_format import corpus_format
from pipeline.formats.corpora.rules import UNIT, Rule, Unique
from pipeline.formats.lines import TEXT

__all__ = ["TEXT", "UNIT", "Rule", "Unique", "corpus_format"]
