"""Tasks on a Spark cluster of this machine."""
