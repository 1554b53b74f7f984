"""Repositories that keep their records in this process and lose them with it."""
