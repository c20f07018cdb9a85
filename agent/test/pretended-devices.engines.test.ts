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

/** Where, of which kind, and how a mount may be used; its device and sizes are of its own container. */
function mountFacts(line: string): string {
  const [, place = "", kind = "", options = ""] = line.split(" ");
  const rights = options
    .split(",")
    .filter((option) => /^(ro|rw|nosuid|nodev|noexec)$/.test(option));
  return `${place} ${kind} ${rights.join(",")}`;
}
