"""Association measures of tuples of two to six units, one family a file."""
