"""Association measures, one family a file."""
