"""Tests of the house itself: its wheel, its guide, its habits."""
