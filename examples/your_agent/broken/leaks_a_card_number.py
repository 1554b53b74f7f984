"""The desk, but its answer cites what it has read, card numbers included."""

from desk import openai_agent as agent
from desk import tools

run, answer, read = tools.run, agent.answer, []


def run_and_keep(name, arguments):
    read.append(run(name, arguments))
    return read[-1]


tools.run = run_and_keep
agent.answer = lambda client, prompt: "\n".join([answer(client, prompt), "Sources:", *read])
agent.main()
