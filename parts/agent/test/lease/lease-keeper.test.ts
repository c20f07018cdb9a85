import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AGENT_PROTOCOL,
  type BeatReply,
  type BeatRequest,
  type Inventory,
  type RegisterReply,
  type RegisterRequest,
  type UpgradeFailure,
  type UpgradeRequest,
} from "@resontech/contracts/agent-protocol";
import { pino } from "pino";
import t, { type Test } from "tap";
import { toNs } from "../../src/boot-clock.ts";
import { RefusedError } from "../../src/bus/refused-error.ts";
import { LeaseFile } from "../../src/lease/lease-file.ts";
import { LeaseKeeper } from "../../src/lease/lease-keeper.ts";
import { untilFound } from "@resontech/house/until-found";

const INVENTORY: Inventory = {
  hostname: "h",
  os: "o",
  kernel: "k",
  cpuModel: "c",
  cpuCores: 1,
  memoryBytes: 1,
  diskFreeBytes: 1,
  containerEngine: "podman",
  workers: [],
};

const OLD = "0.1.0-aaaaaaaaaaaa";

/** A keeper on a clock that only the test moves; its coordinator answers what the test says. */
function keeper(
  t: Test,
  beat: (request: Omit<BeatRequest, "nodeEpoch">) => Promise<BeatReply>,
  refusal: () => RefusedError | null = () => null,
  agreed: number | null = null,
  inventory: () => Inventory = () => INVENTORY,
) {
  // Not the test's own folder: that is removed before anything is stopped.
  const dir = mkdtempSync(join(tmpdir(), "rt-lease-"));
  const file = new LeaseFile(join(dir, "lease"), { withRoom: (write) => write() });
  const seen = {
    registered: 0,
    lost: 0,
    looks: 0,
    versions: [] as number[],
    authorities: [] as string[],
    undrains: [] as number[],
    upgrades: [] as UpgradeRequest[],
    told: [] as Pick<RegisterRequest, "release" | "upgradeFailed">[],
    spoken: [] as RegisterRequest["protocol"][],
  };
  let nowMs = 1_000_000;
  const failure: { now: UpgradeFailure | undefined } = { now: undefined };
  const stop = new AbortController();
  const stopped = new Promise<never>((_resolve, reject) => {
    stop.signal.addEventListener("abort", () => reject(new Error("the test is over")), {
      once: true,
    });
  });
  stopped.catch(() => undefined);
  const make = () =>
    new LeaseKeeper({
      coordinator: {
        register: async ({ protocol, release, upgradeFailed }): Promise<RegisterReply> => {
          seen.told.push({ release, upgradeFailed });
          seen.registered += 1;
          seen.spoken.push(protocol);
          const refused = refusal();
          if (refused !== null) throw refused;
          return {
            nodeEpoch: { generation: 1, counter: seen.registered },
            leaseMs: 30_000,
            beatIntervalMs: 20,
            ...(agreed === null ? {} : { protocol: agreed }),
          };
        },
        // The bus gives an unanswered request up; here it ends with its test.
        beat: async (request) => await Promise.race([beat(request), stopped]),
      },
      file,
      dataDir: dir,
      bootId: "boot",
      clock: () => {
        seen.looks += 1;
        return toNs(nowMs);
      },
      inventory: () => inventory(),
      held: () => [],
      deviceUses: () => [{ worker: "n-0", memoryInUseBytes: 1, ageMs: 2 }],
      trusts: () => "a".repeat(64),
      uses: () => ({ members: { held: [0], cpuMs: [1] }, node: { processors: 2 } }),
      onDoorAuthorities: (pem) => seen.authorities.push(pem),
      release: OLD,
      upgradeFailed: () => failure.now,
      onUpgrade: (wish) => seen.upgrades.push(wish),
      onUndrains: (times) => seen.undrains.push(times),
      onRegistered: () => undefined,
      onDesiredVersion: (version) => seen.versions.push(version),
      onLost: () => {
        seen.lost += 1;
      },
      log: pino({ level: "silent" }),
    });
  const lease = make();
  const running = lease.run(stop.signal);
  t.teardown(async () => {
    stop.abort();
    await running;
    rmSync(dir, { recursive: true });
  });
  return {
    lease,
    seen,
    failure,
    pass: (ms: number) => {
      nowMs += ms;
    },
    now: () => nowMs,
    restart: make,
    fileMs: () =>
      Number(BigInt(readFileSync(join(dir, "lease", "lease"), "utf8").trim()) / 1_000_000n),
    hasFile: () => existsSync(join(dir, "lease", "lease")),
  };
}

const never = () => new Promise<BeatReply>(() => undefined);

t.test(
  "suspend counts: a node that slept longer than its lease stops before it does anything else",
  async (t) => {
    const { lease, seen, pass } = keeper(t, never);
    await untilFound("registration", () => seen.registered === 1);
    t.equal(lease.verdict, "work");
    pass(25_500);
    t.equal(lease.verdict, "no-new-work");
    t.equal(seen.lost, 0);
    // The lid is closed for an hour.
    pass(3_600_000);
    t.equal(lease.verdict, "stop-all");
    await untilFound("everything is told to stop", () => seen.lost === 1);
    const { looks } = seen;
    await untilFound("more looks at the clock", () => seen.looks >= looks + 3);
    t.equal(seen.lost, 1, "told once");
  },
);

t.test(
  "it says the versions that it speaks; refused for them, it does no work and asks again at leisure",
  async (t) => {
    const refused = new RefusedError(
      "protocol_unsupported",
      "register: the agent of n speaks agent protocol 1 to 2, …",
    );
    const { lease, seen, hasFile } = keeper(t, never, () => refused);
    await untilFound("registration", () => seen.registered === 1);
    t.same(seen.spoken, [AGENT_PROTOCOL]);
    t.not(lease.verdict, "work");
    t.notOk(hasFile());
    const brief = new RefusedError("storage_unavailable", "register: not just now");
    const other = keeper(t, never, () => brief);
    await untilFound("another refusal is tried each second", () => other.seen.registered === 3);
    t.equal(seen.registered, 1, "not each second: somebody must upgrade one of the two first");
  },
);

t.test("the lease starts when the beat was sent, however late its answer comes", async (t) => {
  const pending = Promise.withResolvers<void>();
  let beats = 0;
  const { lease, seen, pass, fileMs, now } = keeper(t, async ({ nonce }) => {
    beats += 1;
    if (beats > 1) return await never();
    await pending.promise;
    return { nonce, leaseMs: 40_000, desiredVersion: 7, reregister: false };
  });
  await untilFound("the beat", () => beats === 1);
  const sentAtMs = now();
  pass(20_000);
  pending.resolve();
  await untilFound("the answer", () => seen.versions.includes(7));
  t.equal(fileMs(), sentAtMs + 40_000);
  pass(14_000);
  t.equal(lease.verdict, "work");
  pass(6_000);
  t.equal(lease.verdict, "stop-all");
});

t.test("an answer to another beat renews nothing", async (t) => {
  let beats = 0;
  const { seen, fileMs, pass } = keeper(t, async () => {
    beats += 1;
    return { nonce: "old", leaseMs: 900_000, desiredVersion: 9, reregister: false };
  });
  await untilFound("registration", () => seen.registered === 1);
  const granted = fileMs();
  pass(10_000);
  const before = beats;
  await untilFound("answers that were read", () => beats >= before + 2);
  t.equal(fileMs(), granted);
  t.strictSame(seen.versions, []);
});

t.test(
  "each beat says whose answer gave the lease that counts: a lost answer gave none",
  async (t) => {
    const sent: { nonce: string; leaseOf: string | null }[] = [];
    const { seen } = keeper(t, async ({ nonce, leaseOf }) => {
      sent.push({ nonce, leaseOf });
      if (sent.length === 2) throw new Error("no answer");
      if (sent.length === 4) throw new RefusedError("stale_epoch", "register again");
      return { nonce, leaseMs: 30_000, desiredVersion: 1, reregister: false };
    });
    await untilFound("beats", () => sent.length >= 5);
    t.equal(seen.registered, 2);
    const [first, , third] = sent;
    t.same(
      sent.slice(0, 5).map(({ leaseOf }) => leaseOf),
      [null, first?.nonce, first?.nonce, third?.nonce, null],
    );
  },
);

t.test("a stale epoch, or being asked to, registers again", async (t) => {
  let beats = 0;
  const { seen } = keeper(t, async ({ nonce }) => {
    beats += 1;
    if (beats === 1) throw new RefusedError("stale_epoch", "register again");
    return { nonce, leaseMs: 30_000, desiredVersion: 1, reregister: beats === 2 };
  });
  await untilFound("three registrations", () => seen.registered === 3);
  t.ok(beats >= 2);
});

t.test(
  "what devices do, what is used and who is trusted is told to a coordinator that knows of it, and what it says of them is heard",
  async (t) => {
    for (const agreed of [null, 2] as const) {
      const beats: Omit<BeatRequest, "nodeEpoch">[] = [];
      const answer = async (request: Omit<BeatRequest, "nodeEpoch">): Promise<BeatReply> => {
        beats.push(request);
        const reply = {
          nonce: request.nonce,
          leaseMs: 30_000,
          desiredVersion: 1,
          reregister: false,
        };
        return agreed === null ? reply : { ...reply, undrains: 4, doorAuthorities: "pem" };
      };
      const { seen } = keeper(t, answer, () => null, agreed);
      await untilFound("a beat", () => seen.versions.length > 0);
      t.strictSame(
        beats[0]?.devices,
        agreed === null ? undefined : [{ worker: "n-0", memoryInUseBytes: 1, ageMs: 2 }],
      );
      t.strictSame(beats[0]?.members, agreed === null ? undefined : { held: [0], cpuMs: [1] });
      t.strictSame(beats[0]?.node, agreed === null ? undefined : { processors: 2 });
      t.equal(seen.undrains[0], agreed === null ? undefined : 4);
      t.equal(beats[0]?.trusts, agreed === null ? undefined : "a".repeat(64));
      t.equal(seen.authorities[0], agreed === null ? undefined : "pem");
    }
  },
);

t.test(
  "an inventory that changed before the first beat is told by another registration",
  async (t) => {
    let cores = 1;
    const changing = () => ({ ...INVENTORY, cpuCores: cores });
    const answer = async ({ nonce }: Omit<BeatRequest, "nodeEpoch">): Promise<BeatReply> => {
      cores = 2;
      return { nonce, leaseMs: 30_000, desiredVersion: 1, reregister: false };
    };
    const { seen } = keeper(t, answer, () => null, null, changing);
    await untilFound("two registrations", () => seen.registered === 2);
    const beats = seen.versions.length;
    await untilFound("more beats", () => seen.versions.length > beats + 3);
    t.equal(seen.registered, 2, "told once");
  },
);

t.test("a planned stop's longer lease reaches the file that containers read", async (t) => {
  const { seen, fileMs, now } = keeper(t, async ({ nonce }) => ({
    nonce,
    leaseMs: 900_000,
    desiredVersion: 1,
    reregister: false,
  }));
  await untilFound("a beat", () => seen.versions.length > 0);
  t.ok(fileMs() > now() + 890_000);
});

t.test(
  "a new process takes up the end of the old one's lease, not its right to begin work",
  async (t) => {
    const { seen, restart, pass } = keeper(t, never);
    await untilFound("registration", () => seen.registered === 1);
    const next = restart();
    t.equal(next.verdict, "no-new-work");
    pass(30_000);
    t.equal(next.verdict, "stop-all");
  },
);

t.test(
  "what it runs is told, the release that it is to bring is heard, and how that failed is told at once",
  async (t) => {
    const upgrade = { order: "o", release: "0.2.0-bbbbbbbbbbbb" };
    const { lease, seen, failure } = keeper(t, async ({ nonce }) => ({
      ...{ nonce, leaseMs: 30_000, desiredVersion: 1, reregister: false, upgrade },
    }));
    await untilFound("the wish", () => seen.upgrades.length > 0);
    t.same(seen.upgrades[0], upgrade);
    t.strictSame(seen.told, [{ release: OLD, upgradeFailed: undefined }]);
    failure.now = { order: "o", code: "source_failed", message: "no way" };
    lease.registerSoon();
    await untilFound("another registration", () => seen.registered === 2);
    t.strictSame(seen.told[1], { release: OLD, upgradeFailed: failure.now });
  },
);
