"""Tails of discrete distributions: logarithms of p-values and of likelihoods."""
