"""What the stages of clusterings show."""
