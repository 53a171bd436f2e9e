"""The page: one HTML file, its figures and tables as files beside it."""
