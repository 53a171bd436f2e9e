"""Token-level measures over a contingency table of classes and clusters."""
