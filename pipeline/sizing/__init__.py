"""How large a sample must be: widths of intervals, power of comparisons, pilots, charts."""
