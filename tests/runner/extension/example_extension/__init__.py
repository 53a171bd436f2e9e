"""A package that adds something of every kind that an extension can add."""
