"""What the stages of collocations show."""
