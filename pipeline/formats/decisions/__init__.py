"""What people decided in the browser: a log in SQLite that only grows, read as a sheet is read."""
