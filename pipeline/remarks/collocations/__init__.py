"""Remarks on the stages that extract, sample, annotate and evaluate collocations."""
