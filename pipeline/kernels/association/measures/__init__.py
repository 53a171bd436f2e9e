"""Association measures."""
