"""What a notebook or another program calls."""
