"""The order desk: one small agent, written four times."""
