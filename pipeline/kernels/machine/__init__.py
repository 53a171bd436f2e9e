"""What predictions of machines are worth beside the judgements of people."""
