"""Type-level measures: a type counts once, whatever its frequency."""
