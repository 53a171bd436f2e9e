"""Remarks on the stages that read and evaluate lexicons."""
