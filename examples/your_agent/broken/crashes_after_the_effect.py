"""The desk, but it fails right after it has written a file."""

from desk import openai_agent as agent
from desk import tools

write = tools.KNOWN["files_write"]


def write_and_crash(path, text):
    write(path, text)
    raise RuntimeError("crashed after the effect")


tools.KNOWN["files_write"] = write_and_crash
agent.main()
