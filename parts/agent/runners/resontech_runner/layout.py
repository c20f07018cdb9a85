"""Every path this runner reads or writes, as contracts/src/agent/runner.ts lists them."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """`root` is `/` in a container; unit tests pass a folder of their own."""

    root: Path = Path("/")

    @property
    def spec(self) -> Path:
        return self.root / "rt/job/spec.json"

    @property
    def kit(self) -> Path:
        return self.root / "rt/job/kit"

    @property
    def scripts(self) -> Path:
        return self.root / "rt/job/scripts"

    @property
    def configs(self) -> Path:
        return self.root / "rt/job/configs"

    @property
    def commit_order(self) -> Path:
        """There once the run is to end between two rounds."""
        return self.root / "rt/job/commit-order.json"

    @property
    def events(self) -> Path:
        return self.root / "rt/events/events.jsonl"

    @property
    def metrics(self) -> Path:
        return self.root / "rt/events/metrics.jsonl"

    @property
    def training_log(self) -> Path:
        return self.root / "rt/events/training_log.txt"

    @property
    def out(self) -> Path:
        return self.root / "app/out"

    @property
    def workspace(self) -> Path:
        return self.root / "app/workspace"

    @property
    def site_workspace(self) -> Path:
        """NVFlare's own workspace of this container's server or client."""
        return self.workspace / "site"

    @property
    def admin_workspace(self) -> Path:
        return self.workspace / "admin"

    @property
    def job_folder(self) -> Path:
        """The folder name becomes NVFlare's `job_folder_name`."""
        return self.workspace / "submit/job"

    @property
    def journal(self) -> Path:
        """What our components inside NVFlare's processes saw."""
        return self.workspace / "journal.jsonl"
