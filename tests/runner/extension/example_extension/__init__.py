"""A package that adds something of every kind that can be added."""
