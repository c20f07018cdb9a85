"""What every script shares: the site, the question, and how a step is told. A step that raises is told with why."""

import json
import os
import traceback

CHAT_URL, EMBEDDINGS_URL = os.environ["CHAT_URL"], os.environ["EMBEDDINGS_URL"]
KEY, CHAT, EMBEDDINGS = os.environ["API_KEY"], os.environ["CHAT"], os.environ["EMBEDDINGS"]
ASKED = "Say hello."
CITIES = ("Paris", "Rome")
told = {}


def step(name):
    """`@step("chat")`: runs at once; what the function returns says what is wrong, None that nothing is."""

    def tell(work):
        try:
            wrong = work()
            told[name] = True if wrong is None else str(wrong)
        except Exception as error:
            told[name] = "".join(traceback.format_exception_only(error)).strip()[-600:]
        return work

    return tell


def is_vector(vectors):
    """Three texts, of which the first two are the same: what is wrong with their vectors, or None."""
    if [len(one) for one in vectors] != [384] * 3:
        return f"{[len(one) for one in vectors]} numbers"

    def near(a, b):
        return sum(x * y for x, y in zip(a, b))

    same, other = near(vectors[0], vectors[1]), near(vectors[0], vectors[2])
    return None if same > 0.999 and other < 0.9 else f"{same} and {other}"


TEXTS = ["The cat sleeps.", "The cat sleeps.", "Interest rates rose."]


def end():
    print(json.dumps(told))
