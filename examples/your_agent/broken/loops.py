"""The desk, but it never takes an answer for the last one."""

from desk import openai_agent as agent

agent.is_answer = lambda message: False
agent.main()
