"""Sheets that people fill in: written as XLSX or CSV, read back from what they saved."""

from __future__ import annotations

from pipeline.formats.spreadsheets.layout import Column, Layout
from pipeline.formats.spreadsheets.read import listing, read
from pipeline.formats.spreadsheets.write import write_csv, write_xlsx

__all__ = ["Column", "Layout", "listing", "read", "write_csv", "write_xlsx"]
