/** Two ranks of torch on two nodes, in real containers of the release's image: they find one another over the meeting point alone. */
import { join } from "node:path";
import {
  DISTRIBUTE_COMMAND,
  type DistributedSpec,
  ownPortsOf,
  RANK_PORTS,
} from "@resontech/contracts/distributed-spec";
import type { DesiredMember, MemberBridge, StagedInput } from "@resontech/contracts/agent-protocol";
import { NetworkNamespace } from "@resontech/house/network-namespace";
import { untilFound } from "@resontech/house/until-found";
import t from "tap";
import { newestLayout } from "./helper/job-image-root.ts";
import { TestNode } from "./helper/test-node.ts";
import { TestSite } from "./helper/test-site.ts";

const MIB = 1024 ** 2;
const HUB = { name: "meeting-point", port: 8003 } as const;
/** Trains eight steps from where it finds a checkpoint; with `die` rank 1 is killed in the fifth, once. */
const SCRIPT = `import os, sys, time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
folder = os.environ["RESONTECH_CHECKPOINT_DIR"]
found = sorted(int(name[5:-3]) for name in os.listdir(folder) if name.startswith("step-"))
begin = found[-1] if found else 0
# Without torch's autograd, whose threads at times abort a process that ends.
weights = torch.load(os.path.join(folder, f"step-{begin}.pt")) if found else torch.zeros(4)
seen = torch.tensor([float(rank + 1)])
dist.all_reduce(seen)
print(f"rank {rank} of {ranks} begins after {begin}, sum {seen.item():.0f}", flush=True)
for step in range(begin + 1, 9):
    x = torch.randn(8, 4, generator=torch.Generator().manual_seed(step * ranks + rank))
    error = x @ weights - x.sum(1)
    slope = x.T @ error
    dist.all_reduce(slope)
    weights -= 0.01 * slope
    if rank == 0:
        path = os.path.join(folder, f"step-{step}.pt")
        torch.save(weights, path + ".part")
        os.replace(path + ".part", path)
        print('RT_METRIC {"step": %d, "loss": %f}' % (step, (error**2).mean().item()), flush=True)
    if "die" in sys.argv and not found and rank == 1 and step == 5:
        # The first commits of the four before are on their way.
        time.sleep(8)
        os.kill(os.getpid(), 9)
if rank == 0:
    with open(os.path.join(os.environ["RESONTECH_OUT_DIR"], "told.txt"), "w") as told:
        told.write(f"{begin} to 8")
dist.destroy_process_group()
`;

const layout = newestLayout();
t.setTimeout(900_000);
t.test(
  "ranks on two nodes",
  { skip: layout === null && "no job image in .cache/airgap: build a bundle first" },
  async (t) => {
    const namespace = NetworkNamespace.make();
    t.teardown(() => namespace[Symbol.dispose]());
    const site = await TestSite.start(["node-a", "node-b"], namespace.hostAddress);
    t.teardown(() => site[Symbol.asyncDispose]());
    const runners = join(import.meta.dirname, "..", "runners");
    const a = await TestNode.join(site, "node-a", namespace.hostAddress, null, 2, runners);
    t.teardown(() => a[Symbol.asyncDispose]());
    const b = await TestNode.join(site, "node-b", namespace.address, namespace, 2, runners);
    t.teardown(() => b[Symbol.asyncDispose]());
    const nodes = [a, b];
    const image = site.image.add(layout!);
    for (const node of nodes) node.run();
    for (const { peer } of nodes)
      await untilFound("registration", () => peer.registrations.length === 1);

    type Attempt = { meeting: DesiredMember; ranks: [DesiredMember, DesiredMember] };

    async function attempt(
      name: string,
      port: number,
      args: string[],
      resumed: { step: number; file: StagedInput } | null,
    ): Promise<Attempt> {
      const bridges: Record<"listen" | "dial", MemberBridge> = {
        listen: { kind: "listen", port, peers: [b.bridgePeer] },
        dial: { kind: "dial", host: a.config.address, port, peer: a.bridgePeer },
      };
      const member = async (node: TestNode, index: number | null): Promise<DesiredMember> => {
        const isFar = node === b;
        const site = index === null ? "meeting" : `worker-${index + 1}`;
        const spec: DistributedSpec = {
          ...{ formatVersion: 1, site, index, members: 2, ranksEach: 1 },
          ...{ serverName: HUB.name, serverPort: isFar ? port : HUB.port },
          ports: { first: RANK_PORTS.first, each: RANK_PORTS.each },
          ...{ script: "/rt/job/scripts/train.py", arguments: args },
          resumesAfter: resumed?.step ?? null,
        };
        const script = await node.input("script", "scripts/train.py", SCRIPT);
        const resume = resumed === null ? [] : [resumed.file];
        const bridge = index === null ? bridges.listen : isFar ? bridges.dial : undefined;
        return {
          ...node.member(name, { kind: "server" }, index === null ? resume : [script]),
          ...{ member: `${name}.${site}`, image },
          ...(bridge === undefined ? {} : { bridge }),
          resources: {
            ...{ cpuMillis: 2_000, memoryBytes: 1024 * MIB, pids: 512, diskBytes: 256 * MIB },
            workers: index === null ? [] : [`${node.config.node}-0`],
          },
          payload: {
            ...{ command: [...DISTRIBUTE_COMMAND], environment: {}, certificates: null },
            files: [{ name: "spec.json", text: JSON.stringify(spec) }],
            network: {
              ...{ shape: "hub", index, ...HUB },
              ...(index === null ? {} : { ports: ownPortsOf(index) }),
            },
            sites: ["worker-1", "worker-2"],
            outputs: {
              ...{ logs: [], printed: `files_out/logs/${site}.log`, checkpoints: index === null },
              models: index === null ? "model_out" : null,
              files: index === null ? { folder: "files_out", site } : null,
              ...(index === null ? {} : { metrics: site }),
            },
          },
        };
      };
      return {
        meeting: await member(a, null),
        ranks: [await member(a, 0), await member(b, 1)],
      };
    }

    function want({ meeting, ranks: [near, far] }: Attempt): void {
      a.peer.want(meeting, near);
      b.peer.want(far);
    }

    async function untilReleased({ meeting, ranks: [near, far] }: Attempt): Promise<void> {
      await a.peer.event(meeting.member, "released");
      await a.peer.event(near.member, "released");
      await b.peer.event(far.member, "released");
      for (const node of nodes) node.peer.want();
      for (const node of nodes) await node.untilClean();
    }

    const stored = (key: string) => site.store.get(key);
    function told(t: Tap): void {
      if (t.passing()) return;
      for (const node of nodes) {
        const { reports } = node.peer;
        t.comment(reports.map((one) => JSON.stringify(one).slice(0, 1_500)).join("\n"));
        t.comment(node.log().slice(-3_000));
      }
    }
    type Tap = typeof t;

    await t.test("they train together, and what rank 0 leaves is the job's", async (t) => {
      t.teardown(() => told(t));
      const whole = await attempt("whole", 29_021, [], null);
      want(whole);
      await a.peer.event(whole.meeting.member, "finished", 240_000);
      await untilReleased(whole);
      const { metric } = Object.groupBy(a.peer.of(whole.ranks[0].member), ({ kind }) => kind);
      t.equal(metric?.length, 8, "a metric of each step");
      t.match(await stored("out/files_out/logs/worker-2.log"), "rank 1 of 2 begins after 0, sum 3");
      t.equal(await stored("out/files_out/told.txt"), "0 to 8");
      t.ok(a.peer.completed.includes("out/model_out/checkpoint.pt"), "the last step's model");
      t.strictSame(a.peer.violations.concat(b.peer.violations), []);
    });

    await t.test(
      "a rank is killed: its member alone says so, and the next attempt goes on",
      async (t) => {
        t.teardown(() => told(t));
        const first = await attempt("killed", 29_022, ["die"], null);
        want(first);
        const failed = await b.peer.event(first.ranks[1].member, "failed", 240_000);
        t.match(failed, {
          reason: "container_failed",
          message: "worker-2: rank 1 was ended by signal 9 (SIGKILL)",
        });
        t.notOk(
          a.peer.of(first.ranks[0].member).some(({ kind }) => kind === "failed"),
          "who lost it is not to blame, and waits for the kernel",
        );
        const commits = a.peer
          .of(first.meeting.member)
          .flatMap((event) => (event.kind === "checkpoint" ? [event.round] : []));
        const step = Math.max(...commits);
        t.ok(step >= 1 && step <= 5, `committed ${commits.join(", ")}`);
        const key = a.peer.completed.findLast((one) => one.endsWith(`/${step}/model`))!;
        for (const node of nodes) node.peer.want();
        for (const node of nodes) await node.untilClean();

        const file = await a.input("checkpoint", "resume/model.pt", site.store.bytes(key));
        const second = await attempt("killed-again", 29_023, ["die"], { step, file });
        want(second);
        await a.peer.event(second.meeting.member, "finished", 240_000);
        await untilReleased(second);
        t.match(
          await stored("out/files_out/logs/worker-2.log"),
          `rank 1 of 2 begins after ${step}, sum 3`,
        );
        t.equal(await stored("out/files_out/told.txt"), `${step} to 8`);
        t.strictSame(a.peer.violations.concat(b.peer.violations), []);
      },
    );
  },
);
