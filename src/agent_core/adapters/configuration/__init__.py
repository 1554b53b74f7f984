"""Configuration from files. Only what reads files imports this, because it needs PyYAML."""
