"""litellm, as its maker publishes it."""

import json

import litellm

from steps import ASKED, CHAT, CHAT_URL, CITIES, EMBEDDINGS, EMBEDDINGS_URL, KEY, TEXTS, end, is_vector, step

litellm.telemetry = False
SITE = {"model": f"openai/{CHAT}", "api_base": CHAT_URL, "api_key": KEY, "temperature": 0, "num_retries": 0}
SCHEMA = {"type": "object", "properties": {"city": {"enum": list(CITIES)}}, "required": ["city"], "additionalProperties": False}
MESSAGES = [{"role": "user", "content": ASKED}]


@step("chat")
def _():
    answer = litellm.completion(**SITE, messages=MESSAGES, max_tokens=12)
    return None if answer.choices[0].message.content and answer.usage.completion_tokens > 0 else answer


@step("stream")
def _():
    parts = [part.choices[0].delta.content or "" for part in litellm.completion(**SITE, messages=MESSAGES, max_tokens=12, stream=True)]
    whole = litellm.completion(**SITE, messages=MESSAGES, max_tokens=12).choices[0].message.content
    return None if "".join(parts) == whole and len(parts) > 2 else [parts, whole]


@step("tools")
def _():
    tool = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
    answer = litellm.completion(
        **SITE, messages=MESSAGES, tools=[tool], tool_choice={"type": "function", "function": {"name": "weather"}}, max_tokens=60
    )
    (call,) = answer.choices[0].message.tool_calls
    return None if json.loads(call.function.arguments)["city"] in CITIES else call


@step("json")
def _():
    form = {"type": "json_schema", "json_schema": {"name": "city", "schema": SCHEMA, "strict": True}}
    answer = litellm.completion(**SITE, messages=MESSAGES, response_format=form, max_tokens=60)
    return None if json.loads(answer.choices[0].message.content)["city"] in CITIES else answer


@step("responses")
def _():
    answer = litellm.responses(**{**SITE, "input": ASKED, "max_output_tokens": 16})
    return None if answer.output[0].content[0].text else answer


@step("embeddings")
def _():
    answer = litellm.embedding(model=f"openai/{EMBEDDINGS}", input=TEXTS, api_base=EMBEDDINGS_URL, api_key=KEY)
    return is_vector([one["embedding"] for one in answer.data])


end()
