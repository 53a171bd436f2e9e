"""Survey sampling: designed samples, estimates from any design, the labels that questions need."""
