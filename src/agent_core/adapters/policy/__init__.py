"""Policy engines."""
