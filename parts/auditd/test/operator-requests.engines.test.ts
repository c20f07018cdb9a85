/** What stands in the log of an operator's requests on auditd's control socket. */
import { hash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exchangeOnSocket } from "@resontech/frame/exchange-on-socket";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import t, { type Test } from "tap";
import { HostClock } from "../src/host/host-clock.ts";
import { connectProducer } from "@resontech/audit/producer";
import { until } from "@resontech/audit/testing/until";
import { AuditdFixture, startedAuditd } from "./helper/auditd-fixture.ts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { verified } from "./helper/verified.ts";
import { ADMIN, PEOPLE, StepUpPeople } from "@resontech/audit/testing/step-up-people";
import { isListening } from "@resontech/house/is-listening";

const OPERATOR = { sub: "appliance", kind: "operator" };
const DECEMBER = Date.parse("2026-12-20T10:00:00Z");
const JANUARY = Date.parse("2027-01-01T00:00:05Z");
const TWO = ["ann", "bob"];

/** What auditd refuses a question with. @param question a string is sent as it is, whatever its verb */
async function refusalOf(auditd: AuditdFixture, question: object | string): Promise<object> {
  const { verb, ...body }: { verb?: string } =
    typeof question === "string" ? { verb: "open-shard" } : question;
  const { status, text } = await exchangeOnSocket(auditd.config.controlSocket!, {
    ...{ method: "POST", path: `/${encodeURIComponent(verb ?? "")}`, timeoutMs: 60_000 },
    body: typeof question === "string" ? question : JSON.stringify(body),
  });
  return { status, ...(JSON.parse(text) as object) };
}

const vouch = (auditd: AuditdFixture) => auditd.control({ verb: "clock-is-right" });
const open = (auditd: AuditdFixture, approvers: string[]) =>
  auditd.control({ verb: "open-shard", approvers });

/** Of a shard, as the next start finds it after auditd was killed: what was not durable is gone. */
async function leftByAKill(auditd: AuditdFixture, slug: string): Promise<AuditEvent[]> {
  await auditd.stop("SIGKILL");
  await auditd.start();
  await auditd.settled();
  return await readLeaves(auditd.shardDir(slug));
}

const ofType = (leaves: AuditEvent[], type: AuditEvent["type"]) =>
  leaves.filter((leaf) => leaf.type === type);

async function auditdInDecember(t: Test): Promise<AuditdFixture> {
  const auditd = new AuditdFixture(temporaryFolder(t), {
    inception: "2026-12-20",
    checkpointMs: 20,
  });
  auditd.clockMs = DECEMBER;
  auditd.init();
  t.teardown(() => auditd.stop("SIGKILL"));
  await auditd.start();
  return auditd;
}

/** Rolled back: nobody says how much of it is missing. The shard of 2027 is prepared. */
async function restoredInDecember(t: Test): Promise<AuditdFixture> {
  const auditd = await auditdInDecember(t);
  await until(
    async () => ofType(await readLeaves(auditd.shardDir("2026")), "audit.shard.next").length === 1,
  );
  await auditd.stop();
  writeFileSync(join(auditd.config.auditDir, "restored"), "");
  await auditd.start();
  t.match(await auditd.control({ verb: "status" }), { rolledBack: { by: "restore" } });
  return auditd;
}

t.test(
  "each refusal of an operator's request is one record that is durable before the answer",
  async (t) => {
    const auditd = await startedAuditd(t);
    const policy = readFileSync(auditd.config.policyFile, "utf8");
    const set = (changed: string, approval = PEOPLE.policyProof(changed)) => ({
      ...{ verb: "set-policy", policy: changed, approval },
    });
    const asked: [request: object | string, action: string, code: string][] = [
      [{ verb: "open-shard", approvers: TWO }, "auditd open-shard", "not_rolled_back"],
      [{ verb: "open-shard", approvers: ["ann", "ann"] }, "auditd open-shard", "approvers_equal"],
      [{ verb: "open-shard", approvers: ["ann"] }, "auditd open-shard", "request_invalid"],
      [set(policy, PEOPLE.policyProof("another")), "auditd set-policy", "step_up_nonce"],
      [
        set(policy, { ...PEOPLE.policyProof(policy), approved: null }),
        ...(["auditd set-policy", "approval_single"] as const),
      ],
      [{ ...set(policy), approvers: TWO }, "auditd set-policy", "request_invalid"],
      [set(policy.replace("quorum none", "quorum nobody")), "auditd set-policy", "policy_invalid"],
      [set(policy.slice(policy.indexOf("\n") + 1)), "auditd set-policy", "policy_of_other_log"],
      [{ verb: "clock-is-right", at: "noon" }, "auditd clock-is-right", "request_invalid"],
      [{ verb: "open sesame" }, "auditd", "request_invalid"],
      ["[]", "auditd", "request_invalid"],
      ["null", "auditd", "request_invalid"],
      ["open the shard", "auditd", "request_invalid"],
    ];
    for (const [request, , code] of asked) {
      const told = { status: 409, code, message: String };
      t.match(await refusalOf(auditd, request), told, JSON.stringify(request).slice(0, 60));
    }
    const leaves = await leftByAKill(auditd, auditd.currentSlug);
    t.same(
      ofType(leaves, "admin.refused").map(({ prod, phase, actor, object, action, detail }) => [
        ...[prod, phase, actor, object, action, detail],
      ]),
      asked.map(([, action, reason]) => [
        ...["auditd", "fact", OPERATOR, { kind: "appliance", id: "auditd" }, action, { reason }],
      ]),
    );
    t.same(ofType(leaves, "audit.policy"), [], "nothing was asked for on record");
    t.match(await verified(auditd), {
      verdicts: { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } },
    });
  },
);

t.test(
  "what is granted leaves no refusal, and neither does a look at how the log stands",
  async (t) => {
    const auditd = await startedAuditd(t);
    const policy = `# by two people\n${readFileSync(auditd.config.policyFile, "utf8")}`;
    await auditd.control({ verb: "status" });
    const set = { verb: "set-policy", policy, approval: PEOPLE.policyProof(policy) };
    t.match(await auditd.control(set), { rolledBack: null });
    await vouch(auditd);
    t.same(ofType(await leftByAKill(auditd, auditd.currentSlug), "admin.refused"), []);
  },
);

t.test("who is alone goes on alone, and the entry says so with the token's digest", async (t) => {
  const auditd = await startedAuditd(t);
  const alone = new StepUpPeople();
  alone.trusted.holders = { "security-officer": [] };
  alone.pin(auditd.config.stepUpKeysFile!);
  const policy = `# alone\n${readFileSync(auditd.config.policyFile, "utf8")}`;
  const approval = alone.proof(
    { kind: "audit-policy", policy },
    { requester: ADMIN, approver: null },
  );
  t.match(await auditd.control({ verb: "set-policy", policy, approval }), { rolledBack: null });
  t.match(ofType(await leftByAKill(auditd, auditd.currentSlug), "audit.policy"), [
    {
      detail: {
        ...{ approval: approval.approval, requester: ADMIN.by, approvers: [ADMIN.by] },
        signatures: [hash("sha256", approval.requested.token)],
        single_person: true,
      },
    },
    { phase: "completed" },
  ]);
});

t.test("an older policy does not come back by its approval, also after a kill", async (t) => {
  const auditd = await startedAuditd(t);
  const shipped = readFileSync(auditd.config.policyFile, "utf8");
  const request = (policy: string) => ({
    ...{ verb: "set-policy", policy, approval: PEOPLE.policyProof(policy) },
  });
  const [first, second] = [request(`# one\n${shipped}`), request(`# two\n${shipped}`)];
  t.match(await auditd.control(first), { rolledBack: null });
  t.match(await auditd.control(second), { rolledBack: null });
  await leftByAKill(auditd, auditd.currentSlug);
  for (const again of [first, second])
    t.match(await auditd.control(again), { error: { code: "approval_used" } });
  t.equal(readFileSync(auditd.config.policyFile, "utf8"), second.policy);

  const file = join(auditd.config.keysDir, "used-approvals.json");
  writeFileSync(file, readFileSync(file, "utf8").slice(0, -5));
  t.match(
    await auditd.control(request(`# three\n${shipped}`)),
    { error: { code: "used_approvals_damaged" } },
    "a file that says nothing lets nothing through",
  );
});

t.test("while the log is rolled back a refusal is the answer alone", async (t) => {
  const auditd = await restoredInDecember(t);
  t.match(await open(auditd, ["ann", "ann"]), { error: { code: "approvers_equal" } });
  t.match(await open(auditd, ["ann"]), { error: { code: "request_invalid" } });
  t.match(
    await auditd.control({ verb: "set-policy", policy: "", approval: PEOPLE.policyProof("") }),
    {
      error: { code: "log_closed" },
    },
  );
  t.match(await open(auditd, TWO), { rolledBack: null });
  t.match(await open(auditd, TWO), { error: { code: "not_rolled_back" } });
  t.match(ofType(await leftByAKill(auditd, auditd.currentSlug), "admin.refused"), [
    { detail: { reason: "not_rolled_back" } },
  ]);
});

t.test(
  "each time that an officer vouches for the clock is a record, durable before the answer",
  async (t) => {
    const auditd = await startedAuditd(t);
    t.match(await auditd.control({ verb: "status" }), { clock: { trusted: false } });
    for (let n = 0; n < 2; n++) t.match(await vouch(auditd), { clock: { trusted: true } });
    const vouched = ofType(await leftByAKill(auditd, auditd.currentSlug), "audit.clock.vouched");
    t.match(
      vouched,
      Array.from({ length: 2 }, () => ({
        ...{
          prod: "auditd",
          phase: "fact",
          actor: OPERATOR,
          object: { kind: "log", id: "auditd" },
        },
        ...{ action: "auditd clock-is-right", detail: {} },
      })),
    );
    t.equal(new Set(vouched.map(({ op }) => op)).size, 2, "each an operation of its own");
    t.match(
      await auditd.control({ verb: "status" }),
      { clock: { trusted: false } },
      "it ended with that life",
    );
  },
);

t.test("the shard that turns by an officer's word has it before its end", async (t) => {
  const auditd = await auditdInDecember(t);
  await auditd.stop();
  auditd.clockMs = JANUARY;
  await auditd.start();
  t.match(await vouch(auditd), { origin: "box.audit.acme/2027" });
  const types = (await readLeaves(auditd.shardDir("2026"))).map(({ type }) => type);
  t.same(types.slice(-2), ["audit.clock.vouched", "audit.shard.close"]);
  await auditd.stop();
  t.match(await verified(auditd), {
    verdicts: { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } },
  });
});

t.test(
  "an officer vouches before a rolled-back log is opened: it counts, and the new shard has it",
  async (t) => {
    const auditd = await restoredInDecember(t);
    for (let n = 0; n < 2; n++)
      t.match(await vouch(auditd), { clock: { trusted: true }, rolledBack: { by: "restore" } });
    t.match(
      await open(auditd, TWO),
      { origin: "box.audit.acme/2026-2" },
      "by the clock the shard of 2027 was not begun",
    );
    t.match(await vouch(auditd), { clock: { trusted: true } });
    const leaves = await leftByAKill(auditd, "2026-2");
    t.equal(leaves[0]?.type, "audit.shard.open");
    t.match(
      ofType(leaves, "audit.clock.vouched"),
      Array.from({ length: 3 }, () => ({ actor: OPERATOR })),
      "twice before, once after",
    );
    t.match(await verified(auditd), {
      verdicts: { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } },
    });
  },
);

t.test(
  "a shard that an officer's word named is not the one that is written before it has that word",
  async (t) => {
    const auditd = await restoredInDecember(t);
    await vouch(auditd);
    // In the way of the file that names the shard.
    const current = join(auditd.config.auditDir, "current");
    renameSync(current, `${current}.kept`);
    mkdirSync(current);
    const opened = open(auditd, TWO).catch(() => null);
    t.equal(await auditd.ended(10_000), 1);
    await opened;
    rmSync(current, { recursive: true });
    renameSync(`${current}.kept`, current);
    await auditd.start();
    await vouch(auditd);
    t.match(await open(auditd, TWO), { origin: "box.audit.acme/2026-2" }, "the opening goes on");
    const leaves = await leftByAKill(auditd, "2026-2");
    t.equal(
      ofType(leaves, "audit.clock.vouched").length,
      2,
      "what was said before it was broken off, and after",
    );
  },
);

t.test("two people who come while auditd still hears others are answered after that", async (t) => {
  const root = temporaryFolder(t);
  const socket = join(root, "run", "audit-out.sock");
  const auditd = new AuditdFixture(root, {
    producers: [{ name: "audit-out", family: "audit-out", socket, gid: null }],
    learnMs: 60_000,
  });
  auditd.init();
  t.teardown(() => auditd.stop("SIGKILL"));
  writeFileSync(join(auditd.config.auditDir, "restored"), "");
  const starting = auditd.start();
  await until(() => isListening(auditd.config.controlSocket!));
  const opened = open(auditd, TWO);
  await using _outward = await connectProducer({
    socketPath: socket,
    boot: "o-1",
    seen: () => [],
  });
  t.match(await opened, { rolledBack: null, origin: /-2$/ });
  await starting;
});

t.test(
  "while auditd still hears what others have seen of the log, nobody vouches for the clock",
  async (t) => {
    const root = temporaryFolder(t);
    const socket = join(root, "run", "audit-out.sock");
    const auditd = new AuditdFixture(root, {
      producers: [{ name: "audit-out", family: "audit-out", socket, gid: null }],
      learnMs: 60_000,
    });
    auditd.init();
    t.teardown(() => auditd.stop("SIGKILL"));
    const starting = auditd.start();
    await until(() => isListening(auditd.config.controlSocket!));
    t.match(await vouch(auditd), { error: { code: "log_closed" } });
    t.match(await auditd.control({ verb: "status" }), { clock: { trusted: false } });
    await using _outward = await connectProducer({
      socketPath: socket,
      boot: "o-1",
      seen: () => [],
    });
    await starting;
    t.match(await vouch(auditd), { clock: { trusted: true } });
    await auditd.stop();
    const leaves = await readLeaves(auditd.logDir);
    t.same(
      [ofType(leaves, "audit.clock.vouched").length, ofType(leaves, "admin.refused").length],
      [1, 0],
    );
  },
);

t.test(
  "a clock is vouched for once that is on record, and not where it was set meanwhile",
  async (t) => {
    const clock = new HostClock(null);
    const onRecord = Promise.withResolvers<void>();
    const vouching = clock.vouch(onRecord.promise);
    t.equal(clock.isVouchedFor, false, "not on record yet");
    onRecord.resolve();
    await vouching;
    t.same([clock.isVouchedFor, clock.isTrusted], [true, true]);
    clock.endVouching();

    const late = Promise.withResolvers<void>();
    const overtaken = clock.vouch(late.promise);
    const { now } = Date;
    t.intercept(Date, "now", { value: () => now() + 3_600_000 });
    t.ok((clock.look() ?? 0) > 3_500_000);
    late.resolve();
    await overtaken;
    t.equal(clock.isVouchedFor, false);
  },
);
