"""Experiments that are made of a few options: what commands without a configuration run."""
