"""Findings of lexicons: L*, what is lost and where, which of several is better, how sure."""
