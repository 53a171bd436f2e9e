"""Stages that evaluate induced clusters."""
