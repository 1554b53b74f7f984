"""The gates report: what ran, compared with the registry, set against set."""
