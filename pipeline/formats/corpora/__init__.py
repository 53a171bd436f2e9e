"""Corpora: files with tokens."""
