"""What each kind of stage shows in the report."""
