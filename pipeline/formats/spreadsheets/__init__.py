"""Sheets that people fill in: written as XLSX or CSV, read back from what they saved."""

from __future__ import annotations

from pipeline.formats.spreadsheets.layout import Column, Layout
from pipeline.formats.spreadsheets.read import list_sheets, read
from pipeline.formats.spreadsheets.write import write_csv, write_xlsx

__all__ = ["Column", "Layout", "list_sheets", "read", "write_csv", "write_xlsx"]
