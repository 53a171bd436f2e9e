"""What goes out to people: sheets and lists."""
