"""The desk, but the last result of each turn is lost on its way to the model."""

from desk import openai_agent as agent

whole = agent.results
agent.results = lambda calls: whole(calls)[:-1]
agent.main()
