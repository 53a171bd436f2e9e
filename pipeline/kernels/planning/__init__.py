"""How many labels questions need under each way to draw them."""
