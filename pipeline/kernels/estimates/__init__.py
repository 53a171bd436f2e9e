"""Estimates from samples drawn with any probabilities: their variances, intervals, tests."""
