"""In a client's job process: the `logger` of training is called, as client 0.3.0's executor makes it, and has the methods of `logging.Logger` too.

Client 0.3.0 hands `fl_train` and `fl_validate` a plain function. Public training examples, and people used to Python, call `logger.info(…)`:
without this their jobs end in an AttributeError in the first round.
"""

import importlib.abc
import importlib.machinery
import sys
from types import ModuleType

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_component import FLComponent
from nvflare.apis.fl_context import FLContext

from ..logger_methods import wrap_training


class UserLogger(FLComponent):
    def handle_event(self, event_type: str, fl_ctx: FLContext):
        if event_type == EventType.START_RUN:
            custom = fl_ctx.get_engine().get_workspace().get_app_custom_dir(fl_ctx.get_job_id())
            sys.meta_path.insert(0, _UserModules(custom))
            for module in list(sys.modules.values()):
                if str(getattr(module, "__file__", None) or "").startswith(f"{custom}/"):
                    wrap_training(module)


class _UserModules(importlib.abc.MetaPathFinder):
    """Finds the modules in the job's own folder as Python does, and wraps their training once they are loaded."""

    def __init__(self, folder: str):
        self._folder = folder

    def find_spec(self, fullname, path, target=None):
        if path is not None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, [self._folder], target)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        wrap_training(module)
