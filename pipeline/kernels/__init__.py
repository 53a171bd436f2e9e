"""Metric kernels: pure functions over columns."""
