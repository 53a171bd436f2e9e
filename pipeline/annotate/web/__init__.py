"""The pages and their server; needs the extra ``web``."""
