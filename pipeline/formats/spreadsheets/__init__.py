"""Sheets for people to fill in: writing XLSX and CSV, and reading the completed files."""

from __future__ import annotations

from pipeline.formats.spreadsheets.layout import Column, Layout
from pipeline.formats.spreadsheets.read import list_sheets, read
from pipeline.formats.spreadsheets.write import write_csv, write_xlsx

__all__ = ["Column", "Layout", "list_sheets", "read", "write_csv", "write_xlsx"]
