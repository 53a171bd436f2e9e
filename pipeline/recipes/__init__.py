"""Experiments built from a few options, for commands without a configuration file."""
