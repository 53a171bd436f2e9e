"""Pages over several runs: a sweep, two runs compared."""
