"""Findings of clusters against gold classes: which system, which classes, how sure."""
