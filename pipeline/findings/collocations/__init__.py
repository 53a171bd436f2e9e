"""Findings of lists of candidates: which measure, which list size, how sure."""
