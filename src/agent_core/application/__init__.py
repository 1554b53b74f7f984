"""What the runtime does: submit, loop, tool pipeline, finalize. It knows ports, no adapters."""
