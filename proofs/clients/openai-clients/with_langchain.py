"""LangChain, as its maker publishes it."""

from typing import Literal

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel

from steps import ASKED, CHAT, CHAT_URL, CITIES, EMBEDDINGS, EMBEDDINGS_URL, KEY, TEXTS, end, is_vector, step


def model(tokens=12, **more):
    return ChatOpenAI(model=CHAT, base_url=CHAT_URL, api_key=KEY, temperature=0, max_tokens=tokens, max_retries=0, **more)


class City(BaseModel):
    """A city."""

    city: Literal["Paris", "Rome"]


@tool
def weather(city: Literal["Paris", "Rome"]) -> str:
    """The weather of a city."""
    return f"It rains in {city}."


@step("chat")
def _():
    answer = model().invoke(ASKED)
    return None if answer.content and answer.usage_metadata["output_tokens"] > 0 else answer


@step("stream")
def _():
    parts = [part.content for part in model().stream(ASKED)]
    return None if "".join(parts) == model().invoke(ASKED).content and len(parts) > 2 else parts


@step("tools")
def _():
    asked = [HumanMessage("Weather in Rome?")]
    answer = model(60).bind_tools([weather], tool_choice="weather").invoke(asked)
    (call,) = answer.tool_calls
    if call["args"]["city"] not in CITIES:
        return answer
    said = weather.invoke(call)
    if not isinstance(said, ToolMessage):
        return said
    after = model(6).bind_tools([weather], tool_choice="none").invoke([*asked, answer, said])
    return None if after.content else after


@step("json")
def _():
    found = model(60).with_structured_output(City, method="json_schema").invoke("A city?")
    return None if found.city in CITIES else found


@step("responses")
def _():
    answer = model(use_responses_api=True).invoke(ASKED)
    parts = "".join(part.text if isinstance(part.text, str) else part.text() for part in model(use_responses_api=True).stream(ASKED))
    text = answer.text if isinstance(answer.text, str) else answer.text()
    return None if text and parts == text else [text, parts]


@step("embeddings")
def _():
    # Counts no tokens of a model that it does not know, and sends the texts.
    there = OpenAIEmbeddings(model=EMBEDDINGS, base_url=EMBEDDINGS_URL, api_key=KEY, check_embedding_ctx_length=False)
    return is_vector(there.embed_documents(TEXTS))


end()
