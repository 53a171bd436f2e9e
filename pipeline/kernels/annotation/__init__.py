"""What people say: sheets checked, labels adjudicated, agreement measured."""
