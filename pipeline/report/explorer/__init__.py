"""A table of all rows in the page, to search, sort and filter: what it holds, and how packed."""
