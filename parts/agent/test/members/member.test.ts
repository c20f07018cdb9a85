/** A member's life against the substrate's interface alone; `member-life.engines.test.ts` and `endings.engines.test.ts` have a real one. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readSync } from "node:fs";
import type { DesiredMember, MemberEvent } from "@resontech/contracts/agent-protocol";
import { pino } from "pino";
import t, { type Test } from "tap";
import { InputCache } from "../../src/cache/input-cache.ts";
import { Member } from "../../src/members/member.ts";
import type { MemberTools } from "../../src/members/member-context.ts";
import { freshState, MemberStore } from "../../src/members/member-record.ts";
import { MemberSet } from "../../src/members/member-set.ts";
import { MemberUsages } from "../../src/members/member-usages.ts";
import { TailLimit } from "../../src/members/tail-limit.ts";
import { JOB_PATHS } from "../../src/substrate/job-paths.ts";
import {
  DevicesNotFreeError,
  EnclosureFailedError,
  ImageNotHadError,
  NetworkNotClosedError,
  SubstrateRefusedError,
} from "../../src/substrate/substrate-errors.ts";
import { untilFound } from "@resontech/house/until-found";
import { federationPayload } from "../helper/federation-payload.ts";
import { type Cell, MemorySubstrate } from "../helper/memory-substrate.ts";
import { startObjectServer } from "../helper/object-server.ts";

const SCRIPT = Buffer.from("print('hello')\n");
const NOTHING_LEFT = {
  kind: "released",
  processesGone: true,
  diskGone: true,
  devicesAtBaseline: true,
} as const;

/** A node on which everything but the substrate is the agent's own, or answers as it should. */
async function nodeOf(t: Test) {
  const folder = t.testdir({ data: {}, members: {} });
  const objects = await startObjectServer(SCRIPT);
  t.teardown(() => objects[Symbol.asyncDispose]());
  const url = await objects.source.url(false);
  const substrate = new MemorySubstrate(`${folder}/members`);
  const stored = new Map<string, string>();
  const store = new MemberStore(`${folder}/data`, { withRoom: (write) => write() });
  const log = pino({ level: "silent" });
  const tools: MemberTools = {
    usages: new MemberUsages(() => undefined),
    cache: new InputCache({
      folder: store.inputCacheFolder,
      freeBytes: () => Number.MAX_SAFE_INTEGER,
      now: () => Date.now(),
      log,
    }),
    store,
    substrate,
    coordinator: {
      desired: async () => ({ version: 1, members: [] }),
      stage: async () => ({ urls: [{ id: "script", url }], expiresInS: 60 }),
      sign: async () => ({ cert: "certificate", rootCert: "root" }),
      pullToken: async () => ({ username: "u", password: "p" }),
      tail: () => undefined,
    },
    uploader: {
      upload: async (_, { fd, start = 0, sizeBytes, key }) => {
        const bytes = Buffer.alloc(sizeBytes);
        readSync(fd, bytes, 0, sizeBytes, start);
        stored.set(key, bytes.toString());
        return key;
      },
    },
    records: { reported: () => undefined, image: () => undefined, ended: () => undefined },
    tailLimit: new TailLimit(),
    doorCa: () => "",
    bootId: "boot",
    log,
    onReport: () => undefined,
  };
  return { tools, store, substrate, stored };
}
type TestedNode = Awaited<ReturnType<typeof nodeOf>>;

/** The server of a federation, which stores the most. */
function desiredServer(change: Partial<DesiredMember> = {}): DesiredMember {
  return {
    member: "m",
    job: "job",
    attempt: "job.1",
    fence: { generation: 1, counter: 1 },
    desired: "run",
    graceMs: 30_000,
    image: "registry/image@sha256:0",
    resources: { cpuMillis: 100, memoryBytes: 1, pids: 1, diskBytes: 1024 ** 2, workers: [] },
    payload: federationPayload("job", { kind: "server" }),
    inputs: [
      {
        id: "script",
        kind: "script",
        target: "scripts/train.py",
        sizeBytes: SCRIPT.length,
        etag: createHash("md5").update(SCRIPT).digest("hex"),
      },
    ],
    ...change,
  };
}

function toldBy(member: Member): MemberEvent[] {
  return member.journal.state.pending
    .map(({ event }) => event)
    .filter(({ kind }) => kind !== "progress");
}

/** Begins one that runs. */
async function runningMember(
  { tools, substrate }: TestedNode,
  desired = desiredServer(),
): Promise<{ member: Member; cell: Cell }> {
  const member = Member.begin(tools, desired);
  const cell = await untilFound("a member that runs", () => substrate.cells.get("m/1.1"));
  await untilFound("a member that is watched", () => substrate.calls.includes("observe"));
  return { member, cell };
}

async function untilReleased(member: Member): Promise<void> {
  await untilFound("a released member", () => member.isReleased);
}

t.test("a member is staged, runs, is drained and released", async (t) => {
  const node = await nodeOf(t);
  const { substrate, store, stored } = node;
  const { member, cell } = await runningMember(node);
  const area = substrate.area("m");
  t.strictSame(readFileSync(area.path("job", "scripts", "train.py")), SCRIPT);
  t.equal(readFileSync(area.path("job", "kit", "rootCA.pem"), "utf8"), "root");
  t.match(JSON.parse(readFileSync(area.path("job", "spec.json"), "utf8")), { role: "server" });
  t.match(
    store.load(),
    [{ phase: "running", kept: { place: 1 } }],
    "the substrate's notes are durable",
  );

  substrate.write("m", JOB_PATHS.output, "a line\n");
  substrate.write("m", "/rt/events/metrics.jsonl", "{}\n");
  substrate.write("m", "/app/out/model.pt", "model");
  substrate.write("m", "/app/out/plot.svg", "plot");
  substrate.tell(
    "m",
    { kind: "ready" },
    { kind: "finished", modelFile: "/app/out/model.pt", modelName: "model.pt" },
  );
  await untilFound("the runner's word", () => toldBy(member).some(({ kind }) => kind === "ready"));
  cell.end(0);
  await untilReleased(member);
  t.strictSame(
    toldBy(member).map(({ kind }) => kind),
    ["staged", "started", "ready", "finished", "outputs-uploaded", "released"],
  );
  t.strictSame(toldBy(member).at(-1), NOTHING_LEFT);
  t.match(toldBy(member)[1], { kind: "started", container: "m/1.1" });
  t.strictSame(Object.fromEntries(stored), {
    "m-1.1/00000001": "a line\n",
    "files_out/metrics.jsonl": "{}\n",
    "model_out/checkpoint.pt": "model",
    "model_out/model.pt": "model",
    "files_out/plot.svg": "plot",
  });
  t.strictSame(substrate.calls, [
    ...[
      "reserve",
      "isMade",
      "claimDevices",
      "makeArea",
      "haveImage",
      "makeNetwork",
      "connect",
      "proveClosed",
      "start",
    ],
    ...["observe", "connect", "proveClosed", "release"],
  ]);
  t.strictSame([...substrate.cells, ...substrate.networks], []);
});

t.test(
  "a member that is told to stop is asked, keeps its logs and tells of no failure",
  async (t) => {
    const node = await nodeOf(t);
    const { member, cell } = await runningMember(node);
    node.substrate.write("m", JOB_PATHS.output, "so far\n");
    member.stop("user_cancelled", 30_000);
    await untilReleased(member);
    t.strictSame(cell.signals, ["terminate"]);
    t.strictSame(
      toldBy(member).map(({ kind }) => kind),
      ["staged", "started", "outputs-uploaded", "released"],
    );
    t.equal(node.stored.get("m-1.1/00000001"), "so far\n");
  },
);

t.test("what is wished of a replica reaches its program, and how it stands is told", async (t) => {
  const node = await nodeOf(t);
  const { substrate } = node;
  const { member } = await runningMember(node);
  const said = { kind: "standing", standing: "stalled", order: 0 } as const;
  const wished = () => {
    const file = substrate.area("m").path("job", "wish.json");
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as object) : null;
  };
  substrate.tell("m", said, { kind: "job-started", nvflareJob: "later" });
  await untilFound("what it said", () => toldBy(member).some(({ kind }) => kind === "job-started"));
  t.notOk(
    toldBy(member).some(({ kind }) => kind === "standing"),
    "who wishes nothing hears nothing",
  );
  t.equal(wished(), null);

  member.follow(desiredServer({ wish: { order: 1, asleep: true } }));
  await untilFound("a wish", () => wished() !== null);
  t.strictSame(wished(), { formatVersion: 1, order: 1, asleep: true });
  substrate.tell("m", { kind: "standing", standing: "asleep", order: 1 });
  await untilFound("its standing", () => toldBy(member).some(({ kind }) => kind === "standing"));
  member.follow(
    desiredServer({ wish: { order: 9, asleep: true }, fence: { generation: 1, counter: 0 } }),
  );
  t.match(member.desired.wish, { order: 1 }, "an older fence wishes nothing");
  member.follow(desiredServer());
  await untilFound("a wish to wake", () => !(wished() as { asleep: boolean }).asleep);
  await member.abandon(null);
});

t.test("a member that does not go is killed after its grace", async (t) => {
  const node = await nodeOf(t);
  const { member, cell } = await runningMember(node);
  cell.isObedient = false;
  member.stop("user_cancelled", 1);
  await untilReleased(member);
  t.strictSame(cell.signals, ["terminate", "kill"]);
});

const committing = desiredServer({
  payload: federationPayload("job", { kind: "server" }, { isResumable: true }),
});
const MODEL = "model of round 3";
const LAST_ROUND = {
  kind: "round-model",
  round: 3,
  file: "/app/out/model.pt",
  sha256: createHash("sha256").update(MODEL).digest("hex"),
};

function orderOf({ substrate }: TestedNode): object | null {
  const file = substrate.area("m").path("job", "commit-order.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as object) : null;
}

t.test(
  "a member that is to commit is told so, ends by itself, and its round is stored",
  async (t) => {
    const node = await nodeOf(t);
    const { substrate } = node;
    const { member, cell } = await runningMember(node, committing);
    t.equal(orderOf(node), null);
    t.equal(member.local.state, "run");
    member.commit("preempted", 120_000);
    t.equal(member.local.state, "commit");
    await untilFound("the order", () => orderOf(node));
    t.strictSame(orderOf(node), { formatVersion: 1 });
    substrate.write("m", "/app/out/model.pt", MODEL);
    substrate.write("m", "/app/out/plot.svg", "plot");
    substrate.tell("m", LAST_ROUND);
    cell.end(143);
    await untilReleased(member);
    t.strictSame(cell.signals, [], "nobody ended it");
    t.strictSame(
      toldBy(member).map(({ kind }) => kind),
      ["staged", "started", "checkpoint", "outputs-uploaded", "released"],
    );
    t.equal(node.stored.get("m-1.1/3/model"), MODEL);
    t.notOk(node.stored.has("model_out/checkpoint.pt"), "its job goes on elsewhere");
  },
);

t.test(
  "a member that commits for too long is asked to end, and killed after its grace",
  async (t) => {
    const node = await nodeOf(t);
    const { member, cell } = await runningMember(node, committing);
    member.commit("preempted", 1);
    await untilReleased(member);
    t.strictSame(cell.signals, ["terminate"]);
    t.strictSame(
      toldBy(member).map(({ kind }) => kind),
      ["staged", "started", "outputs-uploaded", "released"],
      "that is no failure",
    );
  },
);

t.test("a plain stop overtakes a commit, and never the other way round", async (t) => {
  const node = await nodeOf(t);
  const { member, cell } = await runningMember(node, committing);
  member.commit("preempted", 120_000);
  member.stop("user_cancelled", 30_000);
  member.commit("preempted", 120_000);
  t.equal(member.local.state, "stop");
  await untilReleased(member);
  t.strictSame(cell.signals, ["terminate"]);
});

t.test("what commits nothing stops at once", async (t) => {
  const node = await nodeOf(t);
  const { member, cell } = await runningMember(node);
  member.commit("preempted", 120_000);
  await untilReleased(member);
  t.strictSame(cell.signals, ["terminate"]);
  t.equal(orderOf(node), null);
});

t.test("a run that ends well, or fails, while it is to commit is told as that", async (t) => {
  for (const [event, kind] of [
    [{ kind: "finished" }, "finished"],
    [{ kind: "failed", reason: "user_exception", message: "ValueError" }, "failed"],
  ] as const) {
    const node = await nodeOf(t);
    const { member, cell } = await runningMember(node, committing);
    member.commit("preempted", 120_000);
    node.substrate.tell("m", event);
    cell.end(kind === "finished" ? 0 : 1);
    await untilReleased(member);
    t.equal(toldBy(member)[2]?.kind, kind);
  }
});

t.test("a new process goes on with a member that commits", async (t) => {
  const node = await nodeOf(t);
  const { tools, store, substrate } = node;
  const { signal } = new AbortController();
  const enclosure = substrate.enclosure(committing, {});
  await enclosure.makeArea();
  await enclosure.makeNetwork(signal);
  await enclosure.start(signal);
  const commit = { reason: "preempted", graceMs: 120_000 };
  store.save({ ...freshState(committing, "running", "boot"), commit });
  const member = Member.resume(tools, store.load()[0]!);
  t.equal(member.local.state, "commit");
  await untilFound("the order, once more", () => orderOf(node));
  substrate.cells.get("m/1.1")!.end(143);
  await untilReleased(member);
  t.strictSame(
    toldBy(member).map(({ kind }) => kind),
    ["outputs-uploaded", "released"],
  );
});

t.test("an abandoned member is killed at once, and nothing more of it is stored", async (t) => {
  const node = await nodeOf(t);
  const { member, cell } = await runningMember(node);
  node.substrate.write("m", JOB_PATHS.output, "never stored\n");
  await member.abandon({ reason: "lease_lost", message: "out of reach" });
  t.ok(member.isReleased);
  t.strictSame(cell.signals, ["kill"]);
  t.strictSame(
    toldBy(member).map(({ kind }) => kind),
    ["staged", "started", "failed", "released"],
  );
  t.equal(node.stored.size, 0);
});

t.test("what a substrate refuses has its reason", async (t) => {
  const failing: [call: string, error: Error, reason: string, message: RegExp][] = [
    ["claimDevices", new DevicesNotFreeError("n-0 is gone"), "device_fault", /^n-0 is gone$/],
    [
      "haveImage",
      new ImageNotHadError("manifest unknown"),
      "image_pull_failed",
      /^the image .* could not be pulled: manifest/,
    ],
    ["proveClosed", new NetworkNotClosedError("it has a way out"), "agent_fault", /a way out/],
    [
      "start",
      new EnclosureFailedError("it could not be started"),
      "container_failed",
      /not be started/,
    ],
    [
      "observe",
      new SubstrateRefusedError("database is locked"),
      "container_failed",
      /database is locked/,
    ],
  ];
  for (const [call, error, reason, message] of failing) {
    const { tools, substrate } = await nodeOf(t);
    substrate.failures.set(call, error);
    const member = Member.begin(tools, desiredServer());
    await untilReleased(member);
    t.match(toldBy(member).slice(-2), [{ kind: "failed", reason, message }, NOTHING_LEFT], call);
    t.strictSame([...substrate.cells, ...substrate.networks], [], call);
  }
});

t.test("a message to people names no place of the substrate's", async (t) => {
  const { tools, substrate } = await nodeOf(t);
  substrate.failures.set("makeArea", new Error(`no room for ${substrate.area("m").folder}/disk`));
  const member = Member.begin(tools, desiredServer());
  await untilReleased(member);
  t.match(toldBy(member)[0], {
    kind: "failed",
    reason: "agent_fault",
    message: "no room for disk",
  });
});

t.test(
  "a payload that ends without a word is told with the last lines that it printed",
  async (t) => {
    const node = await nodeOf(t);
    const { member, cell } = await runningMember(node);
    node.substrate.write("m", JOB_PATHS.output, "first\nlast words\n");
    cell.end(3);
    await untilReleased(member);
    t.match(toldBy(member)[2], {
      kind: "failed",
      reason: "payload_exited",
      detail: "first\nlast words",
    });
  },
);

t.test("an end for want of memory is told as that", async (t) => {
  const node = await nodeOf(t);
  const { member, cell } = await runningMember(node);
  cell.end(137, true);
  await untilReleased(member);
  t.match(toldBy(member)[2], { kind: "failed", reason: "out_of_memory" });
});

t.test("a member is released only once all is proven", async (t) => {
  const node = await nodeOf(t);
  const { member, cell } = await runningMember(node);
  const nothing = { processesGone: false, diskGone: false, devicesAtBaseline: true };
  node.substrate.proofs.push(nothing, { ...nothing, processesGone: true });
  cell.end(0);
  await untilReleased(member);
  t.equal(node.substrate.calls.filter((call) => call === "release").length, 3);
  t.strictSame(
    toldBy(member).filter(({ kind }) => kind === "released"),
    [NOTHING_LEFT],
  );
});

t.test(
  "a new process goes on with what runs, stages nothing again, and sweeps what no record knows",
  async (t) => {
    const { tools, store, substrate } = await nodeOf(t);
    const { signal } = new AbortController();
    const known = desiredServer();
    // As a killed process leaves it: one member runs, of another there is no record.
    for (const desired of [known, desiredServer({ member: "unknown", attempt: "other.1" })]) {
      const enclosure = substrate.enclosure(desired, {});
      await enclosure.makeArea();
      await enclosure.makeNetwork(signal);
      await enclosure.start(signal);
    }
    store.save({ ...freshState(known, "staging", "boot"), kept: { place: 7 } });
    substrate.calls.length = 0;
    const members = new MemberSet(tools, () => true);
    await members.resume(signal);
    t.strictSame([...substrate.cells.keys()], ["m/1.1"]);
    t.strictSame([...substrate.networks], ["job.1"]);
    t.strictSame(members.held(), [{ member: "m", fence: known.fence }]);
    const cell = substrate.cells.get("m/1.1");
    await untilFound("a member that is watched", () => substrate.calls.includes("observe"));
    cell?.end(0);
    await untilFound("a released member", () => members.held().length === 0);
    t.strictSame(substrate.calls, [
      ...["reserve", "isMade", "connect", "proveClosed", "start"],
      ...["observe", "connect", "proveClosed", "release"],
    ]);
    t.match(store.load(), [{ phase: "released", kept: { place: 7 } }]);
  },
);

t.test("nothing goes on after the node was restarted", async (t) => {
  const { tools, store, substrate } = await nodeOf(t);
  const state = freshState(desiredServer(), "running", "an earlier boot");
  store.save(state);
  const member = Member.resume(tools, state);
  await untilReleased(member);
  t.match(toldBy(member), [{ kind: "failed", reason: "lease_lost" }, NOTHING_LEFT]);
  t.strictSame(substrate.calls, ["release"]);
});

t.test(
  "while inputs of another owner can't be removed nobody begins, and then they do",
  async (t) => {
    const node = await nodeOf(t);
    const { substrate } = node;
    const desired = desiredServer();
    let isStuck = true;
    let asked = 0;
    const tools: MemberTools = {
      ...node.tools,
      coordinator: {
        ...node.tools.coordinator,
        desired: async () => {
          asked += 1;
          return { version: 1, members: [desired] };
        },
      },
      cache: {
        ...{ find: () => null, begin: () => null },
        follow: async () => {
          if (isStuck) throw new Error("a file can't be removed");
        },
      },
    };
    const end = new AbortController();
    const members = new MemberSet(tools, () => true);
    const running = members.run(end.signal);
    await untilFound("a second look", () => {
      members.look();
      return asked > 1;
    });
    t.strictSame(members.held(), []);
    isStuck = false;
    members.lookFor(1);
    const cell = await untilFound("a member that runs", () => substrate.cells.get("m/1.1"));
    cell.end(0);
    await untilFound("a released member", () => members.held().length === 0);
    end.abort();
    await running;
  },
);
