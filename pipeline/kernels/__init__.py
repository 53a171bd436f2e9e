"""Kernels: pure functions over columns and arrays.

Eager or lazy depends on the kernel:

1. Kernels made of expressions over rows (filters, joins, group-bys) take and return LazyFrames:
   rows may be many, and the stage decides when to collect them.
2. Kernels that reduce such a table to a small one (a row for each category, list or stratum, or a
   number) accept either form and return a DataFrame, collected once at the end.
3. Kernels that use NumPy or SciPy, or need all rows at once, take and return DataFrames or arrays.

If the second kind needs a table of the first kind besides small ones, only that one is lazy.
Functions of one row are expressions, without a frame.
"""
