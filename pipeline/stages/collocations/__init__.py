"""Stages that extract, score, sample, join and evaluate collocation candidates."""
