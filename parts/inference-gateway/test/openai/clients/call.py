"""Every call of the unmodified `openai` package for Python; prints one JSON object."""

import json
import os
import time

import openai

client = openai.OpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"], max_retries=0)
MODEL = os.environ["MODEL"]
ASKED = [{"role": "user", "content": "Say hello."}]
told = {}

told["models"] = [model.id for model in client.models.list()]
told["model"] = client.models.retrieve(MODEL).id

answer = client.chat.completions.create(model=MODEL, messages=ASKED, max_tokens=8, temperature=0)
told["chat"] = answer.choices[0].message.content
told["usage"] = answer.usage.completion_tokens
told["answered_by"] = answer.model

pieces, came = [], []
for chunk in client.chat.completions.create(model=MODEL, messages=ASKED, max_tokens=8, temperature=0, stream=True):
    came.append(time.monotonic())
    told["usage_unasked"] = told.get("usage_unasked", False) or chunk.usage is not None
    pieces += [choice.delta.content or "" for choice in chunk.choices]
told["streamed"] = "".join(pieces)
told["pieces"] = len([piece for piece in pieces if piece])

last = None
for chunk in client.chat.completions.create(
    model=MODEL, messages=ASKED, max_tokens=8, temperature=0, stream=True, stream_options={"include_usage": True}
):
    last = chunk
told["stream_usage"] = last.usage.completion_tokens

told["completion"] = client.completions.create(model=MODEL, prompt="One two three", max_tokens=4, temperature=0).choices[0].text


answer = client.responses.create(model=MODEL, input="Say hello.", max_output_tokens=8, temperature=0)
told["response"] = answer.output_text
told["response_usage"] = answer.usage.output_tokens
told["response_status"] = [answer.status, answer.incomplete_details and answer.incomplete_details.reason]
events = list(client.responses.create(model=MODEL, input=ASKED, max_output_tokens=8, temperature=0, stream=True))
told["response_events"] = [event.type for event in events]
told["response_numbers"] = [event.sequence_number for event in events] == list(range(len(events)))
told["response_streamed"] = [events[-1].response.output_text, "".join(event.delta for event in events if event.type == "response.output_text.delta")]
WEATHER = {
    "type": "function",
    "name": "weather",
    "parameters": {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"], "additionalProperties": False},
    "strict": True,
}
with client.responses.stream(
    model=MODEL, input="Weather in Rome?", tools=[WEATHER], tool_choice={"type": "function", "name": "weather"}, max_output_tokens=40, temperature=0
) as stream:
    final = stream.get_final_response()
(made,) = [item for item in final.output if item.type == "function_call"]
told["response_call"] = [made.name, json.loads(made.arguments)["city"] in ("Paris", "Rome")]
after = client.responses.create(
    model=MODEL,
    instructions="Be brief.",
    input=[
        {"role": "user", "content": [{"type": "input_text", "text": "Weather in Rome?"}]},
        made.model_dump(exclude_none=True, exclude={"parsed_arguments"}),
        {"type": "function_call_output", "call_id": made.call_id, "output": "It rains."},
    ],
    max_output_tokens=4,
)
told["response_after"] = len(after.output_text) > 0
shaped = client.responses.create(
    model=MODEL,
    input="A city?",
    max_output_tokens=40,
    temperature=0,
    text={"format": {"type": "json_schema", "name": "city", "schema": WEATHER["parameters"], "strict": True}},
)
told["response_schema"] = json.loads(shaped.output_text)["city"] in ("Paris", "Rome")


def refused(call):
    try:
        call()
    except openai.APIStatusError as error:
        return [type(error).__name__, error.status_code, error.code]
    return None


stranger = openai.OpenAI(base_url=os.environ["BASE_URL"], api_key="rpk_stranger", max_retries=0)
told["errors"] = {
    "model": refused(lambda: client.chat.completions.create(model="none", messages=ASKED)),
    "key": refused(lambda: stranger.models.list()),
    "context": refused(lambda: client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "a b " * 2000}])),
    "messages": refused(lambda: client.chat.completions.create(model=MODEL, messages=[])),
    "image": refused(
        lambda: client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://h/x.png"}}]}]
        )
    ),
    "embeddings": refused(lambda: client.embeddings.create(model=MODEL, input="a")),
    "before": refused(lambda: client.responses.create(model=MODEL, input="a", previous_response_id="resp_1")),
    "kept": refused(lambda: client.responses.create(model=MODEL, input=[{"type": "item_reference", "id": "msg_1"}])),
    "search": refused(lambda: client.responses.create(model=MODEL, input="a", tools=[{"type": "web_search"}])),
    "tokens": refused(lambda: client.embeddings.create(model=MODEL, input=[1, 2])),
}
print(json.dumps(told))
