"""An experiment as it is written: read, checked, and made into a graph of stages."""
