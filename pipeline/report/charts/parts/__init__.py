"""What charts are made of: planes, marks, strokes, labels."""
