"""The order desk on the anthropic SDK (Messages, streamed). The prompt comes on standard input."""

import sys

import anthropic

from desk import tools


def ask(client, messages):
    """The model's next message."""
    offered = [
        {"name": name, "description": description, "input_schema": schema}
        for name, description, schema in tools.schemas()
    ]
    with client.messages.stream(
        model="claude-haiku-4-5",
        max_tokens=1000,
        system=tools.INSTRUCTIONS,
        messages=messages,
        tools=offered,
    ) as stream:
        return stream.get_final_message()


def answer(client, prompt):
    """The model's answer to the prompt."""
    messages = [{"role": "user", "content": prompt}]
    for _ in range(tools.MOST_TURNS):
        message = ask(client, messages)
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in message.content if block.type == "text")
        results = [
            {
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": tools.run(call.name, call.input),
            }
            for call in calls
        ]
        content = [block.to_dict(mode="json") for block in message.content]
        messages.append({"role": "assistant", "content": content})
        messages.append({"role": "user", "content": results})
    raise SystemExit(f"no answer after {tools.MOST_TURNS} turns")


if __name__ == "__main__":
    # The SDK reads ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY, and waits where a rate limit says so.
    print(answer(anthropic.Anthropic(), sys.stdin.read()))
