"""The command subject: a foreign agent that is started as a process."""
