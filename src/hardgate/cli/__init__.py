"""The command `hardgate`: what people and scripts call in a workspace."""
