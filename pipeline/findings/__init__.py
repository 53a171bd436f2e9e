"""What a run found, in sentences: each with its number, its interval and where it stands."""
