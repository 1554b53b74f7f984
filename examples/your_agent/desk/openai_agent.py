"""The order desk on the openai SDK (Chat Completions). The prompt comes on standard input."""

import sys

import openai

from desk import tools


def make_client():
    """The SDK reads OPENAI_BASE_URL and OPENAI_API_KEY, and waits where a rate limit says so."""
    return openai.OpenAI()


def offered():
    """The tools as the API takes them."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": description,
                "parameters": schema,
            },
        }
        for name, description, schema in tools.schemas()
    ]


def ask(client, messages):
    """The model's next message."""
    completion = client.chat.completions.create(
        model="gpt-4.1-mini", messages=messages, tools=offered()
    )
    return completion.choices[0].message


def results(calls):
    """A message for each call, with its result."""
    return [
        {
            "role": "tool",
            "tool_call_id": call.id,
            "content": tools.run(call.function.name, call.function.arguments),
        }
        for call in calls
    ]


def is_answer(message):
    """Whether the model is done."""
    return not message.tool_calls


def answer(client, prompt):
    """The model's answer to the prompt."""
    messages = [
        {"role": "system", "content": tools.INSTRUCTIONS},
        {"role": "user", "content": prompt},
    ]
    for _ in range(tools.MOST_TURNS):
        message = ask(client, messages)
        if is_answer(message):
            return message.content
        messages.append(message.to_dict(mode="json"))
        messages += results(message.tool_calls or [])
    raise SystemExit(f"no answer after {tools.MOST_TURNS} turns")


def main():
    """Answers the prompt on standard input."""
    print(answer(make_client(), sys.stdin.read()))


if __name__ == "__main__":
    main()
