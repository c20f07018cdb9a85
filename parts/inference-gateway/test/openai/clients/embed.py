"""Embeddings by the unmodified `openai` package for Python; prints one JSON object."""

import json
import os
import sys

import openai

client = openai.OpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"], max_retries=0)
MODEL = os.environ["MODEL"]
texts = json.load(open(sys.argv[1]))["texts"]


def refused(given, **more):
    try:
        client.embeddings.create(model=MODEL, input=given, **more)
    except openai.BadRequestError as error:
        return [error.code, error.param]
    return None


def vectors(**more):
    return [one.embedding for one in client.embeddings.create(model=MODEL, input=texts, **more).data]


many = client.embeddings.create(model=MODEL, input=["a"] * 2048)
print(
    json.dumps(
        {
            # Asked for as base64, which the package decodes.
            "default": vectors(),
            "float": vectors(encoding_format="float"),
            "single": client.embeddings.create(model=MODEL, input=texts[1]).data[0].embedding,
            "many": len(many.data),
            "tokens": many.usage.prompt_tokens,
            "too_many": refused(["a"] * 2049),
            "numbers": refused([1, 2, 3]),
            "dimensions": refused("a", dimensions=16),
            "own_dimensions": len(client.embeddings.create(model=MODEL, input="a", dimensions=384).data[0].embedding),
            "long": refused(["a", "word " * 300]),
        }
    )
)
