"""Measures for items with several classes and several clusters."""
