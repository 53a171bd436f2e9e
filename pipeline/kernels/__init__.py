"""Metric kernels: pure functions over columns.

Eager or lazy goes by what a kernel does:

1. What is expressions over rows (filters, joins, group-bys) takes LazyFrames and returns one:
   the rows may be many, and the stage says when they are collected.
2. What reduces such a table to a small one (a row for each category, list or stratum, or a
   figure) takes it in either form and returns a DataFrame: it collects once, at its end.
3. What goes through NumPy or SciPy, or must see all rows at once to go on, takes DataFrames, or
   arrays, and returns them; it collects nothing.

Where the second kind needs a table of the first kind besides small ones, that one is lazy and the
others are not. A function of one row is an expression, and has no frame at all.
"""
