"""Measures for items with several classes and several clusters, one a file."""
