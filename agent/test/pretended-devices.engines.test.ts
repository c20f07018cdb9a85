/** A node with pretended devices, from the tool's answer to the container and back. No GPU is in it; the agent and Podman are real. */
import t from "tap";
import { until } from "./helper/engine-process.ts";
import { PretendedDevices, pretendedGpu } from "./helper/pretended-devices.ts";
import { TestNode } from "./helper/test-node.ts";
import { TestSite } from "./helper/test-site.ts";

const [a, b] = [pretendedGpu("a"), pretendedGpu("b")];
const devices = PretendedDevices.make([a, b]);
t.teardown(() => devices[Symbol.dispose]());
const site = await TestSite.start(["node-a"]);
t.teardown(() => site[Symbol.asyncDispose]());
const node = await TestNode.join(site, "node-a", "127.0.0.1", devices);
t.teardown(() => node[Symbol.asyncDispose]());

const register = async (): Promise<void> => {
  const before = node.peer.registrations.length;
  node.run();
  await until("registration", () => node.peer.registrations.length > before);
};
const workers = () => node.peer.registrations.at(-1)?.inventory.workers;
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

t.test("a device that the kernel tells of is kept from work until it is proven well", async (t) => {
  const { peer } = node;
  const states = () => workers()?.map(({ healthy, reason }) => (healthy ? "well" : reason));
  peer.undrains = 1;
  devices.kernelSays("3,50,1,-;NVRM: Xid (PCI:0000:3c:00): 31, pid=7, name=python, MMU Fault");
  devices.kernelSays("3,51,2,-;NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.");
  const fallen = "Xid 79: it has fallen off the bus";
  await until("the fault is told", () => states()?.[0] === fallen);
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
  await until("the operator's word counts", () => states()?.[0] === "well");

  t.comment("a device that is listed no more is lost, not forgotten");
  devices.say([b]);
  devices.kernelSays("3,52,3,-;NVRM: Xid (PCI:0000:3c:00): 48, DBE");
  await until(
    "the loss is told",
    () => states()?.length === 2 && states()?.every((one) => one !== "well"),
  );
  t.match(workers(), [
    { id: "node-a-1", device: b, reason: /^Xid 48: / },
    { id: "node-a-0", device: a, model: "t4", reason: /^it is lost/ },
  ]);
});

/** Where, of which kind, and how a mount may be used; its device and sizes are of its own container. */
function mountFacts(line: string): string {
  const [, place = "", kind = "", options = ""] = line.split(" ");
  const rights = options
    .split(",")
    .filter((option) => /^(ro|rw|nosuid|nodev|noexec)$/.test(option));
  return `${place} ${kind} ${rights.join(",")}`;
}
