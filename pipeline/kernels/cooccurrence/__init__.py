"""From tokens to counts of pairs and tuples."""
