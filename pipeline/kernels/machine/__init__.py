"""Machine predictions compared with human judgements."""
