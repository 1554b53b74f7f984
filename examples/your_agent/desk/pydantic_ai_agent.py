"""The order desk on pydantic-ai (OpenAI's Responses). The prompt comes on standard input."""

import sys

import pydantic_ai

from desk import tools

if __name__ == "__main__":
    # The framework's OpenAI client reads OPENAI_BASE_URL and OPENAI_API_KEY.
    agent = pydantic_ai.Agent(
        "openai-responses:gpt-4.1-mini",
        instructions=tools.INSTRUCTIONS,
        tools=[tools.KNOWN[name] for name in sorted(tools.ALLOWED)],
        retries=2,
    )
    print(agent.run_sync(sys.stdin.read()).output)
