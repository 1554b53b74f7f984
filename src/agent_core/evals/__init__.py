"""What binds the reference runtime to Hardgate. Nothing else of the runtime may import it."""
