"""LlamaIndex, as its maker publishes it."""

from typing import Literal

from llama_index.core.tools import FunctionTool
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike
from llama_index.core.llms import ChatMessage
from pydantic import BaseModel

from steps import ASKED, CHAT, CHAT_URL, CITIES, EMBEDDINGS, EMBEDDINGS_URL, KEY, TEXTS, end, is_vector, step


def model(tokens=12):
    return OpenAILike(
        model=CHAT, api_base=CHAT_URL, api_key=KEY, temperature=0, max_tokens=tokens, max_retries=0,
        context_window=4096, is_chat_model=True, is_function_calling_model=True, should_use_structured_outputs=True,
    )


class City(BaseModel):
    """A city."""

    city: Literal["Paris", "Rome"]


def weather(city: Literal["Paris", "Rome"]) -> str:
    """The weather of a city."""
    return f"It rains in {city}."


MESSAGES = [ChatMessage(role="user", content=ASKED)]


@step("chat")
def _():
    answer = model().chat(MESSAGES)
    return None if answer.message.content else answer


@step("stream")
def _():
    parts = [part.delta or "" for part in model().stream_chat(MESSAGES)]
    return None if "".join(parts) == model().chat(MESSAGES).message.content and len(parts) > 2 else parts


@step("tools")
def _():
    llm = model(60)
    answer = llm.chat_with_tools([FunctionTool.from_defaults(weather)], user_msg="Weather in Rome?", tool_required=True)
    (call,) = llm.get_tool_calls_from_response(answer)
    return None if call.tool_name == "weather" and call.tool_kwargs["city"] in CITIES else call


@step("json")
def _():
    found = model(60).as_structured_llm(City).chat([ChatMessage(role="user", content="A city?")]).raw
    return None if found.city in CITIES else found


@step("embeddings")
def _():
    there = OpenAILikeEmbedding(model_name=EMBEDDINGS, api_base=EMBEDDINGS_URL, api_key=KEY, max_retries=0)
    return is_vector(there.get_text_embedding_batch(TEXTS))


end()
