"""Induced clusters against gold classes: type-level, token-level and overlapping measures."""
