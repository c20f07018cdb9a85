"""In the server's job process: which sites were sent a round's model, and what became of each update.

Of NVFlare 2.9.0's aggregating workflows (ScatterAndGather, FedAvg and what is derived from them) each update's fate is told by events. An
update that can't be added up would leave the sum of its round half done, and the round goes on with that: such a one is rejected here, as the
aggregator rejects others, before anything of it is added. What NVFlare's PyTorch persistor could not save is rejected as well. Aggregators of the
user's own, and those that assemble instead of adding, judge for themselves.

Updates that count and models that are saved are looked at for values that are no numbers, of whatever workflow saves them.
"""

import logging
import os
import threading
from pathlib import Path
from typing import Any, Callable, Mapping, Optional

from nvflare.apis.dxo import DataKind, MetaKey, from_shareable
from nvflare.apis.event_type import EventType
from nvflare.apis.fl_component import FLComponent
from nvflare.apis.fl_constant import FLContextKey, ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.app_common.abstract.learnable_persistor import LearnablePersistor
from nvflare.app_common.abstract.model import ModelLearnableKey
from nvflare.app_common.aggregators.intime_accumulate_model_aggregator import InTimeAccumulateWeightedAggregator
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType
from nvflare.app_common.workflows.base_fedavg import BaseFedAvg
from nvflare.app_common.workflows.scatter_and_gather import ScatterAndGather

from ..events import LineLog
from ..finite import not_finite
from ..log_lines import message_of
from ..update_fit import Fit, Shape, judge_fit, shapes_of

_WHY_CHARS = 500


class Updates(FLComponent):
    def __init__(self):
        super().__init__()
        self._journal = LineLog(Path(os.environ["RT_RUNNER_JOURNAL"]))
        self._words = _Words()
        logging.getLogger().addHandler(self._words)
        # Of the model as the job began, where its persistor takes no other; else of the round's first update.
        self._known: dict[str, Shape] = {}
        self._is_model = False
        self._is_counted = False
        self._site: Optional[str] = None
        self._is_unknown = False
        self._accepted: Optional[bool] = None
        self._fit = Fit()
        self._not_finite: Optional[str] = None

    def handle_event(self, event_type: str, fl_ctx: FLContext):
        if event_type == EventType.START_RUN:
            self._look_at_models(fl_ctx)
        elif event_type == EventType.START_WORKFLOW:
            self._on_workflow(fl_ctx)
        elif event_type == AppEventType.BEFORE_LEARNABLE_PERSIST:
            self._words.listen(logging.ERROR)
        elif event_type == AppEventType.AFTER_LEARNABLE_PERSIST:
            self._journal.append("persisted", why=self._words.heard())
        elif not self._is_counted:
            return
        elif event_type == AppEventType.ROUND_STARTED:
            self._learn_model(fl_ctx)
        elif event_type == EventType.BEFORE_TASK_DATA_FILTER:
            self._learn_task(fl_ctx)
        elif event_type == EventType.AFTER_TASK_DATA_FILTER:
            self._on_sent(fl_ctx)
        elif event_type == EventType.BEFORE_PROCESS_SUBMISSION:
            self._begin(fl_ctx)
        elif event_type == EventType.BEFORE_PROCESS_RESULT_OF_UNKNOWN_TASK:
            self._is_unknown = True
        elif event_type == AppEventType.AFTER_CONTRIBUTION_ACCEPT:
            self._accepted = bool(fl_ctx.get_prop(AppConstants.AGGREGATION_ACCEPTED))
        elif event_type == EventType.AFTER_PROCESS_SUBMISSION:
            self._conclude(fl_ctx)

    def _look_at_models(self, fl_ctx: FLContext) -> None:
        """All that saves a model goes through a persistor, and nobody tells what it saved."""
        for one in fl_ctx.get_engine().run_manager.components.values():
            if isinstance(one, LearnablePersistor):
                one.save = self._looking(one.save)

    def _looking(self, save: Callable) -> Callable:
        def save_looked_at(learnable: Any, *args, **kwargs):
            weights = learnable.get(ModelLearnableKey.WEIGHTS) if isinstance(learnable, dict) else None
            if isinstance(weights, Mapping) and weights:
                self._journal.append("model", fault=not_finite(weights) or "")
            return save(learnable, *args, **kwargs)

        return save_looked_at

    def _on_workflow(self, fl_ctx: FLContext) -> None:
        controller = _controller(fl_ctx)
        is_gathering = isinstance(controller, ScatterAndGather)
        self._is_counted = is_gathering or isinstance(controller, BaseFedAvg)
        quorum = getattr(controller, "_min_clients", None)
        self._journal.append(
            "workflow",
            counted=self._is_counted,
            asksAll=is_gathering,
            minClients=quorum if isinstance(quorum, int) and quorum > 0 else None,
        )
        if is_gathering:
            self._guard_aggregator(controller.aggregator)
        elif self._is_counted and _is_nvflares(controller, "_aggregate_one_result") and getattr(controller, "aggregator", None) is None:
            controller._aggregate_one_result = self._guarded(controller._aggregate_one_result, _model_and_samples)

    def _guard_aggregator(self, aggregator: Any) -> None:
        if isinstance(aggregator, InTimeAccumulateWeightedAggregator) and _is_nvflares(aggregator, "accept"):
            aggregator.accept = self._guarded(aggregator.accept, _weights_and_samples)

    def _guarded(self, accept: Callable, read: Callable) -> Callable:
        """@param read: of what is accepted the weights and the samples; None where it holds something else"""

        def accept_fitting(result: Any, *args, **kwargs) -> bool:
            content = read(result)
            self._fit = Fit() if content is None else judge_fit(content[0], self._known, self._is_model, content[1])
            if self._fit.misfit is not None:
                self.logger.error(f"the update of {self._site} is rejected: {self._fit.misfit}")
                return False
            if content is not None and not self._known:
                self._known = shapes_of(content[0])
            return accept(result, *args, **kwargs)

        return accept_fitting

    def _learn_model(self, fl_ctx: FLContext) -> None:
        """Its tensors as the job began: a round whose updates lack some leaves a model without them."""
        if self._is_model:
            return
        self._known = {}
        model = fl_ctx.get_prop(AppConstants.GLOBAL_MODEL)
        if isinstance(model, dict):
            self._bind(model.get(ModelLearnableKey.WEIGHTS), fl_ctx)

    def _learn_task(self, fl_ctx: FLContext) -> None:
        """FedAvg keeps its model to itself, and sends it."""
        task = fl_ctx.get_prop(FLContextKey.TASK_DATA)
        content = None if self._is_model or not isinstance(task, Shareable) else _weights_and_samples(task)
        if content is not None:
            self._bind(content[0], fl_ctx)

    def _bind(self, weights: Any, fl_ctx: FLContext) -> None:
        components = fl_ctx.get_engine().run_manager.components.values()
        # By name: what imports it imports torch.
        if any("PTFileModelPersistor" in (kind.__name__ for kind in type(one).__mro__) for one in components):
            self._known = shapes_of(weights)
            self._is_model = len(self._known) > 0

    def _on_sent(self, fl_ctx: FLContext) -> None:
        peer, task = fl_ctx.get_peer_context(), fl_ctx.get_prop(FLContextKey.TASK_DATA)
        number = task.get_header(AppConstants.CURRENT_ROUND) if isinstance(task, Shareable) else None
        if peer is not None and isinstance(number, int):
            self._journal.append("sent", site=peer.get_identity_name(), round=number)

    def _begin(self, fl_ctx: FLContext) -> None:
        peer = fl_ctx.get_peer_context()
        self._site = None if peer is None else peer.get_identity_name()
        self._is_unknown, self._accepted, self._fit = False, None, Fit()
        result = fl_ctx.get_prop(FLContextKey.TASK_RESULT)
        content = _weights_and_samples(result) if isinstance(result, Shareable) else None
        self._not_finite = None if content is None else not_finite(content[0])
        self._words.listen(logging.WARNING)

    def _conclude(self, fl_ctx: FLContext) -> None:
        heard = self._words.heard()
        result = fl_ctx.get_prop(FLContextKey.TASK_RESULT)
        if self._site is None or not isinstance(result, Shareable):
            return
        outcome, why = self._fate(result, heard)
        notes = [self._fit.note, None if self._not_finite is None else f"it {self._not_finite}"]
        # What did not count needs no word on what it counts for.
        note = "; ".join(filter(None, notes))[:_WHY_CHARS] if outcome == "counted" else ""
        self._journal.append("update", site=self._site, outcome=outcome, why=why[:_WHY_CHARS], note=note or None)
        self._site = None

    def _fate(self, result: Shareable, heard: str) -> tuple[str, str]:
        code = result.get_return_code(ReturnCode.OK)
        if code != ReturnCode.OK:
            return "raised", str(code)
        if self._accepted:
            return "counted", ""
        # NVFlare drops what comes after its round's end without a word to anybody.
        if self._is_unknown or (self._accepted is None and not heard):
            return "late", ""
        return "rejected", self._fit.misfit or heard or "the aggregator did not take it"


class _Words(logging.Handler):
    """The first thing that the listening thread logs at a level or above, until it is asked for."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self._thread: Optional[int] = None
        self._first = ""

    def listen(self, level: int) -> None:
        self.setLevel(level)
        self._first, self._thread = "", threading.get_ident()

    def heard(self) -> str:
        self._thread = None
        return self._first

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread and not self._first:
            self._first = " ".join(message_of(record.getMessage()).split())[:_WHY_CHARS]


def _controller(fl_ctx: FLContext) -> Any:
    config = getattr(fl_ctx.get_engine().server, "runner_config", None)
    name = fl_ctx.get_prop(FLContextKey.WORKFLOW)
    return next((one.controller for one in getattr(config, "workflows", []) if one.id == name), None)


def _is_nvflares(component: Any, method: str) -> bool:
    return getattr(getattr(type(component), method, None), "__module__", "").startswith("nvflare.")


def _weights_and_samples(result: Shareable):
    try:
        dxo = from_shareable(result)
    except ValueError:
        return None
    if dxo.data_kind not in (DataKind.WEIGHTS, DataKind.WEIGHT_DIFF):
        return None
    return dxo.data, dxo.get_meta_prop(MetaKey.NUM_STEPS_CURRENT_ROUND)


def _model_and_samples(result: Any):
    # What FedAvg takes for no number of steps has the weight 1 there.
    return None if not result.params else (result.params, None)

