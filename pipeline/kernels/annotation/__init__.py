"""Annotation: sheets, adjudication and agreement."""
