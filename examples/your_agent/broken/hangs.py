"""The desk, but it waits for somebody who never comes before it runs its tools."""

import threading

from desk import openai_agent as agent

agent.results = lambda calls: threading.Event().wait()
agent.main()
