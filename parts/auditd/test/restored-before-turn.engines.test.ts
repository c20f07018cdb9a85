/** A log's folder that was put back from before a turn: the shard that it names is written no more, and the one that followed it is gone. */
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { LeafRef, SeenTree } from "@resontech/audit/format/wire/frames";
import { exportProof } from "@resontech/audit/export/export-proof";
import { connectProducer } from "@resontech/audit/producer";
import { until } from "@resontech/audit/testing/until";
import { AuditdFixture } from "./helper/auditd-fixture.ts";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { verified } from "./helper/verified.ts";
import { requestOf } from "@resontech/witness/testing/test-log";
import { WitnessFixture } from "@resontech/witness/testing/witness-fixture";

const DECEMBER = Date.parse("2026-12-20T10:00:00Z");
const JANUARY = Date.parse("2027-01-01T00:00:05Z");
const APPROVERS = ["ann", "bob"];

function headOf(auditd: AuditdFixture, slug: string): SeenTree {
  const [origin = "", size, root = ""] = readFileSync(
    join(auditd.shardDir(slug), "checkpoint"),
    "utf8",
  ).split("\n");
  return {
    origin,
    size: Number(size),
    root: Buffer.from(root, "base64").toString("hex"),
    by: "reader",
  };
}

type Restored = {
  auditd: AuditdFixture;
  /** What the folder has of 2026. */
  kept: SeenTree;
  /** What both shards had when the folder was put back. */
  seen: [old: SeenTree, young: SeenTree];
  highestAck: LeafRef;
  /** Has cosigned just that. */
  witness: WitnessFixture;
  /** Starts it, and lets audit-out say what it has seen. */
  startWith: (seen: readonly SeenTree[]) => Promise<void>;
};

/** Put back in January from December. `areKeysBack`: with the keys of then. */
async function restored(t: Test, { areKeysBack = false } = {}): Promise<Restored> {
  const root = temporaryFolder(t);
  const auditd = new AuditdFixture(root, {
    producers: ["coordinator-gate", "audit-out"].map((name) => ({
      ...{ name, family: name, socket: join(root, "run", `${name}.sock`), gid: null },
    })),
    ...{ inception: "2026-12-20", checkpointMs: 20, learnMs: 3_000 },
  });
  auditd.clockMs = DECEMBER;
  auditd.init();
  t.teardown(() => auditd.stop("SIGKILL"));
  const { auditDir, keysDir } = auditd.config;
  const silent = () =>
    connectProducer({ socketPath: auditd.socket("audit-out"), boot: "o-1", seen: () => [] });
  const firstOut = silent();
  await auditd.start();
  await (await firstOut).close();
  await using gate = await connectProducer({
    socketPath: auditd.socket("coordinator-gate"),
    boot: "b-1",
  });
  await gate.covered((await gate.fact(keyList())).index);
  await until(async () =>
    (await readLeaves(auditd.shardDir("2026"))).some(({ type }) => type === "audit.shard.next"),
  );
  const [backup, keys] = [join(root, "backup"), join(root, "keys-backup")];
  await auditd.copyTo(backup);
  cpSync(keysDir, keys, { recursive: true });
  for (let n = 0; n < 10; n++) await gate.fact(keyList());
  await auditd.stop();
  auditd.clockMs = JANUARY;
  const secondOut = silent();
  await auditd.start();
  await (await secondOut).close();
  await auditd.control({ verb: "clock-is-right" });
  await until(() => gate.connected);
  for (let n = 0; n < 30; n++) await gate.fact(keyList());
  const highestAck = await gate.fact(keyList());
  await gate.covered(highestAck.index);
  const seen: Restored["seen"] = [headOf(auditd, "2026"), headOf(auditd, "2027")];
  await gate.close();
  const witness = new WitnessFixture(t);
  witness.init();
  witness.run("admit", "--first", auditd.config.policyFile);
  await witness.serve();
  for (const slug of ["2026", "2027"])
    await witness.post(
      requestOf(0, [], readFileSync(join(auditd.shardDir(slug), "checkpoint"), "utf8")),
    );
  await witness.stop();
  await auditd.stop("SIGKILL");
  rmSync(auditDir, { recursive: true });
  renameSync(backup, auditDir);
  if (areKeysBack) {
    rmSync(keysDir, { recursive: true });
    renameSync(keys, keysDir);
  }
  const startWith = async (said: readonly SeenTree[]): Promise<void> => {
    const outward = connectProducer({
      ...{ socketPath: auditd.socket("audit-out"), boot: "o-2", connectTimeoutMs: 30_000 },
      seen: () => [...said],
    });
    const closed = outward.then(
      (one) => () => one.close(),
      () => () => {},
    );
    t.teardown(async () => (await closed)());
    await auditd.start();
  };
  return { auditd, kept: headOf(auditd, "2026"), seen, highestAck, witness, startWith };
}

const openShard = (auditd: AuditdFixture) =>
  auditd.control({ verb: "open-shard", approvers: APPROVERS });
const keysOf = (auditd: AuditdFixture) => readdirSync(auditd.config.keysDir).sort();
/** Tells the witness of the shard that is written now. */
async function admit(auditd: AuditdFixture, witness: WitnessFixture, ...flags: string[]) {
  const file = join(auditd.root, "first.tlog-proof");
  writeFileSync(file, await exportProof(auditd.shardDir(auditd.currentSlug), 0));
  return witness.run("admit", "--after-restore", auditd.config.policyFile, file, ...flags);
}
const firstOf = async (auditd: AuditdFixture) =>
  (await readLeaves(auditd.shardDir(auditd.currentSlug)))[0];
/** What the entry says of a shard that was lost as a whole. */
const lostAs = ({ origin, size, root }: SeenTree) => ({ origin, size, root });

t.test(
  "a folder from before a turn is taken for what it is: two people open a shard that names both losses",
  async (t) => {
    const { auditd, kept, seen, highestAck, witness, startWith } = await restored(t);
    const [old, young] = seen;
    await startWith(seen);
    t.match(await auditd.control({ verb: "status" }), {
      ...{
        origin: old.origin,
        rolledBack: { origin: young.origin, seenSize: young.size, by: "reader" },
      },
    });
    t.same(headOf(auditd, "2026"), kept, "nothing is signed");
    t.notOk(existsSync(auditd.shardDir("2027")));
    const waiting = connectProducer({
      ...{
        socketPath: auditd.socket("coordinator-gate"),
        boot: "b-1",
        firstPseq: 43,
        highestAck,
        connectTimeoutMs: 30_000,
      },
    });
    await until(() => auditd.output.includes("put back"));

    t.match(await openShard(auditd), { origin: "box.audit.acme/2027-2", rolledBack: null });
    await using gate = await waiting;
    t.equal(gate.draining, false, "what was lost is known");
    await gate.covered((await gate.fact(keyList())).index);
    t.same(
      (await firstOf(auditd))?.detail,
      {
        ...{
          reason: "restore",
          prev_origin: old.origin,
          prev_size: kept.size,
          prev_root: kept.root,
        },
        ...{
          seen_size: old.size,
          seen_root: old.root,
          lost: [lostAs(young)],
          generation: 0,
          claimed: { approvers: APPROVERS, proof: "unproven" },
        },
      },
      "the shard that was put back, and the one that followed it",
    );
    t.same(
      keysOf(auditd),
      ["2027-2.ed25519.pem", "2027-2.ml-dsa-44.pem"],
      "nothing is signed for either again",
    );
    t.match(await verified(auditd), {
      verdicts: {
        SIGNATURE: { verdict: "PASS" },
        COMPLETENESS: {
          verdict: "PASS",
          reason: `RECOVERED: entries ${kept.size} to ${old.size - 1} of ${old.origin} and ${young.size} entries of ${young.origin} were lost`,
        },
      },
    });
    t.match(await admit(auditd, witness), { status: 0, stderr: "" });
    t.match(witness.logs(), [
      ...[old, young].map(({ origin, size }) => ({
        origin,
        size,
        followedBy: "box.audit.acme/2027-2",
      })),
      { origin: "box.audit.acme/2027-2", size: 0 },
    ]);
    await gate.close();
    await auditd.stop();
    await startWith(seen);
    t.match(
      await auditd.control({ verb: "status" }),
      { origin: "box.audit.acme/2027-2", rolledBack: null },
      "and goes on",
    );
  },
);

t.test("keys that are gone say enough where nobody has seen anything", async (t) => {
  const { auditd, kept, highestAck, witness, startWith } = await restored(t);
  await startWith([]);
  t.match(await auditd.control({ verb: "status" }), {
    rolledBack: { origin: kept.origin, seenSize: Number, by: "keys" },
  });
  const waiting = connectProducer({
    ...{
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b-1",
      firstPseq: 43,
      highestAck,
      connectTimeoutMs: 30_000,
    },
  });
  waiting.catch(() => {});
  await until(async () => {
    const { rolledBack } = (await auditd.control({ verb: "status" })) as {
      rolledBack: { by: string };
    };
    return rolledBack.by === "coordinator-gate";
  });
  t.match(await openShard(auditd), { origin: "box.audit.acme/2027-2" });
  await using gate = await waiting;
  t.equal(gate.draining, false, "what a producer held of the lost shard is known as well");
  t.match(
    await admit(auditd, witness),
    { status: 1, stderr: /loss_understated/ },
    "a witness has seen more of the old one",
  );
  t.match(await admit(auditd, witness, "--despite-smaller-loss"), { status: 0 });
  t.match((await firstOf(auditd))?.detail, {
    ...{
      prev_size: kept.size,
      lost: [{ origin: "box.audit.acme/2027", size: highestAck.index + 1, root: null }],
    },
  });
});

t.test(
  "a folder and keys from before a turn that somebody has seen sign nothing either",
  async (t) => {
    const { auditd, kept, seen, witness, startWith } = await restored(t, { areKeysBack: true });
    // Of the old one nobody says more than there is.
    await startWith([kept, seen[1]]);
    t.match(await auditd.control({ verb: "status" }), {
      rolledBack: { origin: seen[1].origin, by: "reader" },
    });
    t.match(await openShard(auditd), { origin: "box.audit.acme/2027-2" });
    t.match((await firstOf(auditd))?.detail, { seen_size: Number, lost: [lostAs(seen[1])] });
    const { status, stderr } = await admit(auditd, witness);
    t.match(
      [status, stderr],
      [1, /seen \d+ entries of box\.audit\.acme\/2026,/],
      "this one has seen more of the old one",
    );
    t.same(keysOf(auditd), ["2027-2.ed25519.pem", "2027-2.ml-dsa-44.pem"]);
  },
);

t.test("killed at any moment of the opening, it ends in one shard", async (t) => {
  const { auditd, seen, startWith } = await restored(t);
  for (let delayMs = 0; auditd.currentSlug === "2026" && delayMs < 400; delayMs += 40) {
    await startWith(seen);
    const asked = openShard(auditd).catch(() => null);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await auditd.stop("SIGKILL");
    await asked;
  }
  await startWith(seen);
  if (auditd.currentSlug === "2026") await openShard(auditd);
  await auditd.stop();
  t.match(
    auditd.currentSlug,
    /^2027-([2-9]|1[0-2])$/,
    "each one that was broken off early may have cost a name",
  );
  const folders = readdirSync(auditd.config.auditDir).filter((name) => /^\d{4}/.test(name));
  t.same(folders, ["2026", auditd.currentSlug], "and in no other");
  t.same(
    keysOf(auditd).filter((name) => name.startsWith("2026") || name.startsWith("2027.")),
    [],
  );
});

t.test(
  "keys that are gone while nothing shows that another shard follows are a fault to mend",
  async (t) => {
    const auditd = new AuditdFixture(temporaryFolder(t), { inception: "2026-07-01" });
    auditd.clockMs = Date.parse("2026-07-01T10:00:00Z");
    auditd.init();
    rmSync(join(auditd.config.keysDir, "2026.ml-dsa-44.pem"));
    await t.rejects(auditd.start(), { message: /2026\.ml-dsa-44\.pem/ });
  },
);
