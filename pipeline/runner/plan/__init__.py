"""What has to run, and why: fingerprints and what changed."""
