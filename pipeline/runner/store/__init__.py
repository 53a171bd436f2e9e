"""Storage of results: artefacts, their manifests and digests, the history of runs."""
