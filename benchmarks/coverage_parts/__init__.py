"""What intervals, tests and bands hold over many samples: one part a file, cell by cell.

`coverage_run.py` in the folder above runs them; `reading.py` says how cells are read.
"""
