"""Survey sampling: designed samples, estimates from any design, labels needed per question."""
