/** A node with pretended devices, from the tool's answer to the container and back. No GPU is in it; the agent and Podman are real. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { untilFound } from "@resontech/house/until-found";
import { PretendedDevices, pretendedGpu } from "./helper/pretended-devices.ts";
import { TestNode } from "./helper/test-node.ts";
import { TestSite } from "./helper/test-site.ts";

const [a, b] = [pretendedGpu("a"), pretendedGpu("b")];
const devices = PretendedDevices.make([a, b]);
t.teardown(() => devices[Symbol.dispose]());
const site = await TestSite.start(["node-a"]);
t.teardown(() => site[Symbol.asyncDispose]());
const node = await TestNode.join(site, "node-a", "127.0.0.1", devices, null);
t.teardown(() => node[Symbol.asyncDispose]());

const workers = () => node.peer.registrations.at(-1)?.inventory.workers;
const image = site.image.reference;
node.peer.trial = () => ({ pull: { image, username: "node", password: "one-use" }, noImage: null });

/** Starts the agent; what it tells first is before any trial. */
const begin = async (): Promise<NonNullable<ReturnType<typeof workers>>> => {
  const before = node.peer.registrations.length;
  node.run();
  await untilFound("registration", () => node.peer.registrations.length > before);
  return node.peer.registrations[before]?.inventory.workers ?? [];
};
const register = async (): Promise<void> => {
  await begin();
  await untilFound("every trial has ended", () =>
    workers()?.every(({ onTrial }) => onTrial === undefined),
  );
};
const server = { kind: "server" } as const;
t.afterEach((t) => {
  if (!t.passing()) t.comment(node.log().slice(-8000));
});

t.test("devices that no CDI specification names are told of, with what to run", async (t) => {
  await register();
  t.match(workers(), [
    {
      ...{ id: "node-a-0", device: a, healthy: false },
      reason: /^no CDI specification .* names GPU-aaaaaaaa.*nvidia-ctk cdi generate/,
    },
    { id: "node-a-1", device: b, healthy: false },
  ]);
  await node.kill();
});

type Probe = { [what: string]: unknown } & { devices: string[]; env: string[]; mounts: string };

/** What a member finds of itself; it is released when this returns. */
async function probe(job: string, workers: readonly string[]): Promise<Probe> {
  const { peer } = node;
  const member = node.member(job, server, [], { resources: { workers: [...workers], pids: 77 } });
  peer.want(member);
  const proof = await peer.event(member.member, "released");
  t.match(proof, { processesGone: true, diskGone: true, devicesAtBaseline: true });
  peer.want();
  await node.untilClean();
  return JSON.parse((await node.store.get("out/files_out/metrics.jsonl")) ?? "null") as Probe;
}

t.test("a member sees its own device, and no other; it is given back", async (t) => {
  devices.nameInCdi([a, b]);
  await register();
  t.match(workers(), [
    {
      ...{ id: "node-a-0", kind: "gpu", model: "t4", vendor: "nvidia", device: a, healthy: true },
      ...{ architecture: "7.5", driver: "580.95.05" },
    },
    { id: "node-a-1", device: b, healthy: true },
  ]);
  const found = await probe("probe-1", ["node-a-1"]);
  t.ok(found.devices.includes("pretended1"), found.devices.join(" "));
  t.notOk(found.devices.includes("pretended0"), "the other's");
  t.ok(found.env.includes(`PRETENDED_DEVICE=${b}`));

  t.comment(
    "it is as closed as a member without devices, whose container Podman makes another way",
  );
  const plain = await probe("probe-2", []);
  const comparable = ({ devices, env, mounts, ...others }: Probe) => ({
    ...others,
    // Of its own attempt: user, addresses.
    ...{ uid: 0, gid: 0, hosts: "", routes: "" },
    devices: devices.filter((name) => !name.startsWith("pretended")).toSorted(),
    env: env.filter((line) => !line.startsWith("PRETENDED")).toSorted(),
    mounts: mounts.split("\n").map(mountFacts).toSorted(),
  });
  t.strictSame(comparable(found), comparable(plain));
});

t.test("a member of several workers sees all of their devices, and gives all back", async (t) => {
  const found = await probe("probe-4", ["node-a-0", "node-a-1"]);
  t.strictSame(found.devices.filter((name) => name.startsWith("pretended")).toSorted(), [
    "pretended0",
    "pretended1",
  ]);
});

t.test("a device that the kernel tells of is kept from work until it is proven well", async (t) => {
  const { peer } = node;
  const states = () => workers()?.map(({ healthy, reason }) => (healthy ? "well" : reason));
  peer.undrains = 1;
  devices.kernelSays("3,50,1,-;NVRM: Xid (PCI:0000:3c:00): 31, pid=7, name=python, MMU Fault");
  devices.kernelSays("3,51,2,-;NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.");
  const fallen = "Xid 79: it has fallen off the bus";
  await untilFound("the fault is told", () => states()?.[0] === fallen);
  t.strictSame(states(), [fallen, "well"], "a fault of a program is none of the device's");
  const refused = node.member("probe-3", server, [], { resources: { workers: ["node-a-0"] } });
  peer.want(refused);
  t.match(await peer.event(refused.member, "failed"), {
    ...{ reason: "device_fault", message: /node-a-0.* is not healthy: Xid 79/ },
  });
  await peer.event(refused.member, "released");
  peer.want();
  await node.untilClean();

  t.comment("the agent is killed: the next one knows, though it reads the kernel's log anew");
  await node.kill();
  await register();
  t.strictSame(states(), [fallen, "well"]);
  peer.undrains = 2;
  await untilFound("the operator's word counts", () => states()?.[0] === "well");

  t.comment("a device that is listed no more is lost, not forgotten");
  devices.say([b]);
  devices.kernelSays("3,52,3,-;NVRM: Xid (PCI:0000:3c:00): 48, DBE");
  await untilFound(
    "the loss is told",
    () => states()?.length === 2 && states()?.every((one) => one !== "well"),
  );
  t.match(workers(), [
    { id: "node-a-1", device: b, reason: /^Xid 48: / },
    { id: "node-a-0", device: a, model: "t4", reason: /^it is lost/ },
  ]);
});

t.test("a device takes work once a container of a job image did its work on it", async (t) => {
  await node.kill();
  const { peer } = node;
  const [good, bad] = [pretendedGpu("c"), pretendedGpu("f")];
  devices.say([good, bad]);
  devices.nameInCdi([good, bad]);
  const asked: string[] = [];
  peer.trial = (worker) => {
    asked.push(worker);
    return { pull: { image, username: "node", password: "one-use" }, noImage: null };
  };
  const told = (device: string) => workers()?.find((worker) => worker.device === device);
  const due = { healthy: false, onTrial: true, reason: /its trial has not ended yet/ };
  t.match(
    (await begin()).filter(({ device }) => device === good || device === bad),
    [due, due],
  );
  await untilFound("the good one passed", () => told(good)?.healthy === true);
  const why = "its trial failed: RuntimeError: CUDA error: no kernel image is available";
  await untilFound("the bad one failed", () => told(bad)?.reason === why);
  t.match(told(bad), { healthy: false, onTrial: undefined });
  t.strictSame(asked.length, 2, "each is tried once");
  await node.untilClean();
  t.match(JSON.parse(readFileSync(join(node.config.dataDir, "registered.json"), "utf8")).trials, [
    { worker: told(good)?.id, state: "passed", why: null, image },
    { worker: told(bad)?.id, state: "failed", why: /no kernel image/, image },
  ]);

  t.comment("after a restart the one that passed need not show it again, the other must");
  await node.kill();
  const before = peer.registrations.length;
  await register();
  const again = peer.registrations[before]?.inventory.workers;
  t.match(
    again?.find(({ device }) => device === good),
    { healthy: true },
  );
  t.match(
    again?.find(({ device }) => device === bad),
    { healthy: false, onTrial: true },
  );
  await untilFound("it failed again", () => told(bad)?.reason === why);
  t.equal(asked.length, 3);

  t.comment("the operator's word: tried once more");
  peer.undrains = 3;
  await untilFound("it is tried again", () => asked.length === 4);
  await untilFound("and has failed again", () => told(bad)?.reason === why);
  await node.untilClean();

  t.comment(
    "killed in the middle of a trial: the next agent removes what is left, and tries again",
  );
  peer.undrains = 4;
  await untilFound("it is tried once more", () => asked.length === 5);
  await node.kill();
  peer.trial = (worker) => {
    asked.push(worker);
    return { pull: null, noImage: "of a vendor (nvidia) that no image is for" };
  };
  await register();
  await untilFound("where there is no image, nothing is tried", () => told(bad)?.healthy === true);
  await node.untilClean();
});

/** Where, of which kind, and how a mount may be used; its device and sizes are of its own container. */
function mountFacts(line: string): string {
  const [, place = "", kind = "", options = ""] = line.split(" ");
  const rights = options
    .split(",")
    .filter((option) => /^(ro|rw|nosuid|nodev|noexec)$/.test(option));
  return `${place} ${kind} ${rights.join(",")}`;
}
