"""Intervals and tests for proportions, and corrections for many of them."""
