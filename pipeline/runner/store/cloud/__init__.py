"""Results on an object store: conditional puts for renames and links, leases for locks."""
