"""Stages: a model of options and a function from tables to tables."""
