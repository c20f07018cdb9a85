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
    "tokens": refused(lambda: client.embeddings.create(model=MODEL, input=[1, 2])),
}
print(json.dumps(told))
