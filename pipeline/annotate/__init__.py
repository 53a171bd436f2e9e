"""Annotation in a browser: what is asked of whom, who may, what came of it."""
