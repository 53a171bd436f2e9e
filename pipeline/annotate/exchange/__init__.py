"""Exchange with other annotation tools: their files, answers from them, suggestions of models."""
