"""Checks of the results of a stage, each with a threshold: warnings about suspicious data."""
