"""The package `openai`, as its maker publishes it."""

import json

import openai
from pydantic import BaseModel
from typing import Literal

from steps import ASKED, CHAT, CHAT_URL, CITIES, EMBEDDINGS, EMBEDDINGS_URL, KEY, TEXTS, end, is_vector, step

client = openai.OpenAI(base_url=CHAT_URL, api_key=KEY, max_retries=0)
SAID = {"model": CHAT, "temperature": 0, "max_tokens": 12, "messages": [{"role": "user", "content": ASKED}]}


class City(BaseModel):
    city: Literal["Paris", "Rome"]


@step("chat")
def _():
    answer = client.chat.completions.create(**SAID)
    return None if answer.choices[0].message.content and answer.usage.completion_tokens > 0 else answer


@step("stream")
def _():
    whole = client.chat.completions.create(**SAID).choices[0].message.content
    parts = [chunk.choices[0].delta.content or "" for chunk in client.chat.completions.create(**SAID, stream=True) if chunk.choices]
    return None if "".join(parts) == whole and len(parts) > 2 else parts


@step("tools")
def _():
    tool = openai.pydantic_function_tool(City, name="weather")
    asked = [{"role": "user", "content": "Weather in Rome?"}]
    answer = client.chat.completions.create(
        model=CHAT, messages=asked, tools=[tool], tool_choice={"type": "function", "function": {"name": "weather"}}, max_tokens=60, temperature=0
    )
    (call,) = answer.choices[0].message.tool_calls
    if json.loads(call.function.arguments)["city"] not in CITIES:
        return call
    asked += [answer.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "It rains."}]
    after = client.chat.completions.create(model=CHAT, messages=asked, max_tokens=6)
    return None if after.choices[0].message.content else after


@step("json")
def _():
    answer = client.chat.completions.parse(model=CHAT, messages=SAID["messages"], response_format=City, max_tokens=60)
    return None if answer.choices[0].message.parsed.city in CITIES else answer


@step("responses")
def _():
    answer = client.responses.parse(model=CHAT, input="A city?", text_format=City, max_output_tokens=60)
    return None if answer.output_parsed.city in CITIES else answer


@step("embeddings")
def _():
    there = openai.OpenAI(base_url=EMBEDDINGS_URL, api_key=KEY, max_retries=0)
    return is_vector([one.embedding for one in there.embeddings.create(model=EMBEDDINGS, input=TEXTS).data])


end()
