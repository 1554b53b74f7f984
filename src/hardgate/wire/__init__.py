"""The scripted provider: plays a model script over HTTP, as the real providers would send it."""
