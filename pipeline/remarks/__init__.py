"""What looks wrong in what a stage made: checks of its data, each with a threshold."""
