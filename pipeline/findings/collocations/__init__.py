"""Findings on candidate lists: measures, list sizes, uncertainty."""
