"""Stages that evaluate lexicons against dictionaries."""
