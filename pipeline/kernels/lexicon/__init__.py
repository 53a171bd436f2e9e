"""Lexicon quality: wordlists, best matches, the L-measure and its sampling error."""
