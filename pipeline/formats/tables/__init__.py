"""Tables of candidates, annotations, clusters."""
