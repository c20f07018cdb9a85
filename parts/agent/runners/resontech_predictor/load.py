"""The user's class, made once."""

import asyncio
import importlib
import inspect
import sys
import threading
from pathlib import Path
from typing import Any, Callable

from resontech_replica.served import LoadError

from .spec import PredictorSpec


class Predictor:
    """Calls the hooks that the user's class has; coroutines run on one loop of their own."""

    def __init__(self, made: Any):
        self._made = made
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="predictor-loop", daemon=True).start()

    @staticmethod
    def load(spec: PredictorSpec, scripts: Path) -> "Predictor":
        """@raise LoadError; whatever else the user's own code raises"""
        sys.path.insert(0, str(scripts))
        try:
            module = importlib.import_module(spec.module)
        except ModuleNotFoundError as error:
            if error.name == spec.module.split(".")[0]:
                raise LoadError(f"scripts/ has no module {spec.module}") from error
            raise
        made_of = getattr(module, spec.class_name, None)
        if not inspect.isclass(made_of):
            raise LoadError(f"{spec.module} has no class {spec.class_name}")
        if not callable(getattr(made_of, "predict", None)):
            raise LoadError(f"{spec.class_name} has no method predict")
        predictor = Predictor(made_of(**spec.init_args))
        if spec.model_path is not None:
            predictor._call_if_there("load_weights", str(spec.model_path))
        predictor._call_if_there("warmup")
        return predictor

    def predict(self, data: bytes) -> Any:
        return self._settled(self._made.predict(data))

    def health(self) -> dict:
        found = self._call_if_there("health")
        return found if isinstance(found, dict) else {"status": "ok"}

    def _call_if_there(self, name: str, *arguments: Any) -> Any:
        hook: Callable[..., Any] | None = getattr(self._made, name, None)
        return None if hook is None else self._settled(hook(*arguments))

    def _settled(self, returned: Any) -> Any:
        if not inspect.isawaitable(returned):
            return returned

        async def settle() -> Any:
            return await returned

        return asyncio.run_coroutine_threadsafe(settle(), self._loop).result()
