"""
Pure: one call for several answers as calls for one answer each, and their answers as one.

An engine that tells the tokens of one answer alone is asked so. Choices have the places that OpenAI's API gives them, prompt by prompt.
The tokens of a prompt count once, however many answers it has.
"""

from dataclasses import dataclass, field
from typing import Any, Optional, Sequence

from .bad_call import BadCall

MAX_ANSWERS = 64
"""Of one prompt, as contracts/src/inference/openai-surface.ts has it."""
MAX_CHOICES = 256
"""Of one call."""
# The last number of 32 bits stands for a seed by chance in llama.cpp.
_SEEDS = 2**32 - 1


@dataclass(frozen=True)
class Part:
    index: int
    """Of its choice in the whole answer."""
    body: dict[str, Any]
    is_of_new_prompt: bool


def parts_of(path: str, body: dict[str, Any]) -> Sequence[Part]:
    """@raise BadCall"""
    answers = _answers(body.get("n"))
    prompts = _prompts(body["prompt"]) if path.endswith("/completions") and "prompt" in body else [None]
    if len(prompts) * answers > MAX_CHOICES:
        raise BadCall(f"a call has {MAX_CHOICES} choices at most", "prompt" if len(prompts) > 1 else "n")
    rest = {name: value for name, value in body.items() if name != "n"}
    return [
        Part(at * answers + answer, _body(rest, prompt, answer), answer == 0)
        for at, prompt in enumerate(prompts)
        for answer in range(answers)
    ]


def _body(rest: dict[str, Any], prompt: Any, answer: int) -> dict[str, Any]:
    seed = rest.get("seed")
    return {
        **rest,
        **({} if prompt is None else {"prompt": prompt}),
        # The same seed would give the same answer each time.
        **({"seed": (seed + answer) % _SEEDS} if answer > 0 and _is_whole(seed) else {}),
    }


def _answers(n: Any) -> int:
    if n is None:
        return 1
    if not _is_whole(n) or not 1 <= n <= MAX_ANSWERS:
        raise BadCall(f"n is no whole number from 1 to {MAX_ANSWERS}", "n")
    return n


def _prompts(prompt: Any) -> Sequence[Any]:
    if isinstance(prompt, str) or _is_tokens(prompt):
        return [prompt]
    if isinstance(prompt, list) and prompt and all(isinstance(one, str) or _is_tokens(one) for one in prompt):
        return prompt
    raise BadCall("prompt is no text, no list of tokens, and no list of these", "prompt")


def _is_tokens(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_whole(one) for one in value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass
class UsageSum:
    prompt: int = 0
    completion: int = 0
    cached: int = 0

    def add(self, part: Part, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        self.completion += usage.get("completion_tokens", 0)
        if part.is_of_new_prompt:
            self.prompt += usage.get("prompt_tokens", 0)
            self.cached += (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)

    def told(self) -> dict[str, Any]:
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.prompt + self.completion,
            "prompt_tokens_details": {"cached_tokens": self.cached},
        }


# Of one part alone.
_OF_PART = ("usage", "timings", "choices")


def whole_answer(parts: Sequence[Part], answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    usage, choices = UsageSum(), []
    for part, answer in zip(parts, answers):
        usage.add(part, answer.get("usage"))
        choices += [{**choice, "index": part.index} for choice in answer.get("choices", [])]
    return {**{name: value for name, value in answers[0].items() if name not in _OF_PART}, "choices": choices, "usage": usage.told()}


@dataclass
class JoinedChunks:
    """Chunks of several streams as those of one: one id, one usage at the end."""

    usage: UsageSum = field(default_factory=UsageSum)
    _common: Optional[dict[str, Any]] = None

    def take(self, part: Part, chunk: dict[str, Any]) -> Optional[dict[str, Any]]:
        """Null for a chunk that has nothing of the model's."""
        self.usage.add(part, chunk.get("usage"))
        if self._common is None:
            self._common = {name: value for name, value in chunk.items() if name not in _OF_PART}
        choices = [{**choice, "index": part.index} for choice in chunk.get("choices") or []]
        return {**self._common, "choices": choices} if choices else None

    def end(self) -> dict[str, Any]:
        return {**(self._common or {}), "choices": [], "usage": self.usage.told()}
