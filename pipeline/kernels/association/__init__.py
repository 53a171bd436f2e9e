"""Association scores of pairs and tuples from their frequencies."""
