"""Annotation in a browser."""
