"""Sheets that people fill in: written as XLSX or CSV, read back from what they saved."""

from pipeline.formats.sheets.layout import Column, Layout
from pipeline.formats.sheets.listing import listing
from pipeline.formats.sheets.reading import read
from pipeline.formats.sheets.to_csv import write_csv
from pipeline.formats.sheets.to_xlsx import write_xlsx

__all__ = ["Column", "Layout", "listing", "read", "write_csv", "write_xlsx"]
