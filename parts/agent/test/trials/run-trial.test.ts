/** How a trial ends, on a substrate in memory; with real containers: pretended-devices.engines.test.ts. */
import type { InventoryWorker, TrialReply } from "@resontech/contracts/agent-protocol";
import { pino } from "pino";
import t, { type Test } from "tap";
import { JOB_PATHS } from "../../src/substrate/job-paths.ts";
import {
  DevicesNotFreeError,
  EnclosureFailedError,
  ImageNotHadError,
} from "../../src/substrate/substrate-errors.ts";
import { runTrial } from "../../src/trials/run-trial.ts";
import { untilFound } from "@resontech/house/until-found";
import { MemorySubstrate } from "../helper/memory-substrate.ts";

const WORKER: InventoryWorker = {
  ...{ id: "n-0", kind: "gpu", model: "t4", memoryBytes: 1, vendor: "nvidia", healthy: true },
};
const PULL: TrialReply = {
  pull: { image: "box:5000/i@sha256:aa", username: "u", password: "p" },
  noImage: null,
};

function trialOn(
  t: Test,
  prepare: (substrate: MemorySubstrate) => void = () => undefined,
  ask: () => Promise<TrialReply> = async () => PULL,
) {
  const substrate = new MemorySubstrate(t.testdir());
  prepare(substrate);
  const folders: string[] = [];
  const store = {
    makeFolder: (name: string) => void folders.push(name),
    forget: (name: string) => void folders.splice(folders.indexOf(name), 1),
    load: () => [],
  };
  const stop = new AbortController();
  t.teardown(() => stop.abort());
  const log = pino({ enabled: false });
  const result = runTrial({ substrate, store, ask, log }, WORKER, stop.signal);
  const cell = () => untilFound("it runs", () => [...substrate.cells.values()][0]);
  return { substrate, folders, result, cell };
}

t.test("it passes by its exit code, and nothing is left", async (t) => {
  const { substrate, folders, result, cell } = trialOn(t);
  t.equal((await cell()).found.member, "trial-n-0");
  t.same(folders, ["trial-n-0"]);
  (await cell()).end(0);
  t.same(await result, { state: "passed", image: PULL.pull?.image });
  t.same([substrate.cells.size, substrate.networks.size, folders.length], [0, 0, 0]);
});

t.test("it fails by its last line, or by its code where it said nothing", async (t) => {
  const loud = trialOn(t);
  const cell = await loud.cell();
  loud.substrate.write("trial-n-0", JOB_PATHS.output, "loading\nRuntimeError: torch finds 0\n");
  cell.end(1);
  t.match(await loud.result, { state: "failed", why: "RuntimeError: torch finds 0" });
  const quiet = trialOn(t);
  (await quiet.cell()).end(139);
  t.match(await quiet.result, { state: "failed", why: "it ended with exit code 139" });
});

t.test("what says nothing of the worker puts the trial off", async (t) => {
  for (const [call, error] of [
    ["haveImage", new ImageNotHadError("no route to the registry")],
    ["claimDevices", new DevicesNotFreeError("a process computes on it")],
  ] as const) {
    const { result } = trialOn(t, ({ failures }) => failures.set(call, error));
    t.match(await result, { state: "put-off", why: error.message });
  }
  const away = trialOn(t, undefined, () => Promise.reject(new Error("timeout")));
  t.match(await away.result, { state: "put-off", image: null, why: "timeout" });
});

t.test("a container that can't start is a failure; a device has time to become free", async (t) => {
  const broken = trialOn(t, ({ failures }) =>
    failures.set("start", new EnclosureFailedError("no such device")),
  );
  t.match(await broken.result, { state: "failed", why: "no such device" });
  const kept = trialOn(t, ({ proofs }) =>
    proofs.push({ processesGone: true, diskGone: true, devicesAtBaseline: false }),
  );
  (await kept.cell()).end(0);
  t.match(await kept.result, { state: "passed" }, "the second look found it free");
});

t.test("where the appliance has no image, nothing runs", async (t) => {
  const noImage = "of a vendor (amd) that no image is for";
  const { substrate, result } = trialOn(t, undefined, async () => ({ pull: null, noImage }));
  t.same(await result, { state: "none", why: noImage });
  t.same(substrate.calls, []);
});
