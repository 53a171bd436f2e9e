"""Declarative stages: a config model and a function from tables to tables."""
