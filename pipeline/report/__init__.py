"""Tables to charts to one HTML file."""
