"""Trial of a worker: `trial.py cpu|nvidia|amd|intel` computes a little where jobs will, and says in its last line what went wrong."""

import sys

SIZE = 256


def try_on(device):
    """Multiplies ones; each element of the product is known."""
    import torch

    ones = torch.ones((SIZE, SIZE), device=device)
    product = (ones @ ones).to("cpu")
    if not bool((product == SIZE).all()):
        raise RuntimeError(f"{device} multiplies wrongly")
    return torch.__version__


def device_of(vendor):
    """Where torch finds the one device of this container. ROCm's devices go by the name of CUDA's."""
    if vendor == "cpu":
        return "cpu"
    import torch

    kind = "xpu" if vendor == "intel" else "cuda"
    found = getattr(torch, kind).device_count()
    if found != 1:
        raise RuntimeError(f"torch {torch.__version__} finds {found} devices, and should find one")
    return f"{kind}:0"


def main(arguments):
    try:
        device = device_of(arguments[0])
        print(f"ready for jobs: torch {try_on(device)} on {device}", flush=True)
        return 0
    # Whatever it is, it is told.
    except Exception as error:
        print(f"{type(error).__name__}: {error}".replace("\n", " ")[:400], flush=True)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
