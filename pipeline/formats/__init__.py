"""Files: readers, sheets written for people, and the annotation log."""
