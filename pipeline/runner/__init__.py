"""Plan, fingerprint, store, validate, resume."""
