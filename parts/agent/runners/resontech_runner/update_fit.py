"""Whether a site's update fits the global model. NVFlare's own aggregators add up whatever comes, part by part, until one part can't be added."""

import math
from dataclasses import dataclass
from typing import Any, Mapping, Optional

_NAMED = 3
# Never tensors; other objects (encrypted values, references to a file) add themselves up in ways of their own.
_PLAIN = (list, tuple, dict, set, str, bytes, type(None))

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Fit:
    """`misfit`: it can't be added, and why. `note`: it can, but does less than it seems to."""

    misfit: Optional[str] = None
    note: Optional[str] = None


def shapes_of(weights: Any) -> dict[str, Shape]:
    """Names and shapes of a model; empty for what is none."""
    if not isinstance(weights, Mapping):
        return {}
    return {str(name): shape for name, value in weights.items() if (shape := _shape_of(value)) is not None}


def judge_fit(update: Any, known: Mapping[str, Shape], is_model: bool, samples: Any = None) -> Fit:
    """
    @param known: shapes by name that the update must have; empty where nobody knows any
    @param is_model: they are the model's, which takes no other names and says which are missing; else another update's of this round
    @param samples: what the site says that it trained on, its update's weight; None when it says nothing
    """
    if not isinstance(update, Mapping) or not update:
        return Fit("it holds no tensors")
    for name, value in update.items():
        shape = _shape_of(value)
        if isinstance(value, _PLAIN):
            return Fit(f"{name!r} is a {type(value).__name__}, not a tensor")
        if name not in known:
            if is_model and known:
                return Fit(f"the model has no tensor {name!r}")
        elif shape is not None and shape != known[name]:
            whose = "the model" if is_model else "the round's first update"
            return Fit(f"{name!r} has the shape {list(shape)}, in {whose} it has {list(known[name])}")
    if samples is not None and not _is_weight(samples):
        return Fit(f"it says that it was trained on {samples!r} samples")
    missing = [name for name in known if name not in update] if is_model else []
    if missing:
        more = "" if len(missing) <= _NAMED else f" and {len(missing) - _NAMED} more"
        return Fit(note=f"it lacks {len(missing)} of {len(known)} tensors, which stay as others left them: {', '.join(missing[:_NAMED])}{more}")
    if samples is not None and float(samples) == 0:
        return Fit(note="it says `samples: 0`, so it has no weight")
    return Fit()


def _is_weight(samples: Any) -> bool:
    try:
        number = float(samples)
    except (TypeError, ValueError, OverflowError):
        return False
    return math.isfinite(number) and number >= 0


def _shape_of(value: Any) -> Optional[Shape]:
    if isinstance(value, (int, float)):
        return ()
    shape = getattr(value, "shape", None)
    try:
        return None if shape is None or callable(shape) else tuple(int(size) for size in shape)
    except (TypeError, ValueError):
        return None
