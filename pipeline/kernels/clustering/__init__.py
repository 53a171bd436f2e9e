"""Evaluation of induced clusters against gold classes: type level, token level, overlapping."""
