"""A package that adds a measure, a stage, a format and a view."""
