"""Annotation in a browser: tasks, access, records, estimates."""
