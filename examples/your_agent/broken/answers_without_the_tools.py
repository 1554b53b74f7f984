"""The desk, but the model is never told of the tools and has to guess."""

import openai

from desk import openai_agent as agent

agent.offered = lambda: openai.omit
agent.main()
