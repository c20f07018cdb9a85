"""Whether weights are numbers at all. One NaN of one site makes the mean of all sites NaN, and training goes on as if nothing were wrong."""

import math
from typing import Any, Mapping, Optional

_NAMED = 3


def not_finite(weights: Any) -> Optional[str]:
    """
    @return: what follows "it": which tensors hold values that are NaN or infinite; None where there are none, or where nothing can be looked at
    """
    if not isinstance(weights, Mapping):
        return None
    found = [(str(name), *counts) for name, value in weights.items() if (counts := _counts_of(value))[0] > 0]
    if not found:
        return None
    named = ", ".join(f"{name} ({bad} of {size})" for name, bad, size in found[:_NAMED])
    more = "" if len(found) <= _NAMED else f" and {len(found) - _NAMED} more"
    return f"holds values that are no numbers (NaN or infinite) in {len(found)} of {len(weights)} tensors: {named}{more}"


def _counts_of(value: Any) -> tuple[int, int]:
    """How many values are not finite, and of how many. Of what is no tensor of floats: none."""
    if isinstance(value, float):
        return int(not math.isfinite(value)), 1
    if callable(getattr(value, "isfinite", None)) and callable(getattr(value, "numel", None)):
        # A torch tensor; what imports torch to ask for its class pays seconds.
        if not (value.is_floating_point() or value.is_complex()):
            return 0, 0
        return int((~value.isfinite()).sum()), value.numel()
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind not in ("f", "c"):
        return 0, 0
    import numpy

    array = numpy.asarray(value)
    # One pass without an array of booleans. A sum of finite halves and singles is finite in double precision; another one is counted.
    with numpy.errstate(all="ignore"):
        if bool(numpy.isfinite(array.sum(dtype=numpy.complex128 if kind == "c" else numpy.float64))):
            return 0, array.size
    return int(array.size - numpy.count_nonzero(numpy.isfinite(array))), array.size
