"""The desk, but nobody took files_delete away from it."""

from desk import openai_agent as agent
from desk import tools

tools.ALLOWED.add("files_delete")
agent.main()
