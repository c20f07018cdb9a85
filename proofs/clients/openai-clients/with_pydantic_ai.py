"""pydantic-ai, as its maker publishes it."""

import asyncio
from typing import Literal

from pydantic import BaseModel
from pydantic_ai import Agent, Embedder, NativeOutput
from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from steps import ASKED, CHAT, CHAT_URL, CITIES, EMBEDDINGS, EMBEDDINGS_URL, KEY, TEXTS, end, is_vector, step

provider = OpenAIProvider(base_url=CHAT_URL, api_key=KEY)
chat = OpenAIChatModel(CHAT, provider=provider)


def settings(tokens=12):
    return {"temperature": 0, "max_tokens": tokens}


class City(BaseModel):
    city: Literal["Paris", "Rome"]


@step("chat")
def _():
    result = Agent(chat).run_sync(ASKED, model_settings=settings())
    return None if result.output else result


@step("stream")
def _():
    async def streamed():
        async with Agent(chat).run_stream(ASKED, model_settings=settings()) as result:
            return [part async for part in result.stream_text(delta=True, debounce_by=None)]

    parts = asyncio.run(streamed())
    whole = Agent(chat).run_sync(ASKED, model_settings=settings()).output
    return None if "".join(parts) == whole and len(parts) > 2 else [parts, whole]


@step("tools")
def _():
    # Its form is a tool that the model has to call.
    result = Agent(chat, output_type=City).run_sync("A city?", model_settings=settings(80))
    return None if result.output.city in CITIES else result


@step("json")
def _():
    result = Agent(chat, output_type=NativeOutput(City)).run_sync("A city?", model_settings=settings(60))
    return None if result.output.city in CITIES else result


@step("responses")
def _():
    result = Agent(OpenAIResponsesModel(CHAT, provider=provider)).run_sync(ASKED, model_settings=settings(16))
    return None if result.output else result


@step("embeddings")
def _():
    there = OpenAIEmbeddingModel(EMBEDDINGS, provider=OpenAIProvider(base_url=EMBEDDINGS_URL, api_key=KEY))
    return is_vector([list(one) for one in Embedder(there).embed_documents_sync(TEXTS).embeddings])


end()
