"""The pages and their server."""
