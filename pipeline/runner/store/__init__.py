"""Where results lie: artefacts, their manifests and digests, the history of runs."""
