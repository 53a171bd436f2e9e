"""N-best lists: counts, precision, tests, samples, size."""
