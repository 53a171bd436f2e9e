"""What the stages of lexicons show."""
