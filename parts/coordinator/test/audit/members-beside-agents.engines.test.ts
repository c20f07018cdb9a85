/** The kernel's own records beside what agents sign: an honest site gives the verifier no reason, and a job that no agent ran is named. */
import { createReadStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { exportLog } from "@resontech/audit/export";
import { nodePlatform, verify } from "@resontech/verifier/judge";
import type { DesiredMember, MemberEvent } from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import { NodeRecords } from "@resontech/agent/node-records";
import { SignedJournal } from "@resontech/agent/signed-journal";
import { CoreFixture } from "../kernel/core-fixture.ts";
import { CLEAN, type ScriptedAgent } from "../kernel/scripted-agent.ts";

/** An agent that writes its journal before it reports, as the real one does. */
class SigningAgent implements Disposable {
  readonly agent: ScriptedAgent;
  readonly #journal: SignedJournal;
  readonly #records: NodeRecords;
  /** It reports, and signs nothing. */
  isMute = false;

  constructor(agent: ScriptedAgent, dataDir: string) {
    this.agent = agent;
    const { keyPem } = agent.identity;
    this.#journal = new SignedJournal({ dataDir, node: agent.node, keyPem, onAppend: () => {} });
    this.#records = new NodeRecords(this.#journal, agent.node);
  }

  async tell(desired: DesiredMember, ...events: MemberEvent[]): Promise<void> {
    for (const event of events) {
      if (!this.isMute && event.kind === "finished") this.#records.ended(desired, 0, false);
      if (!this.isMute) this.#records.reported(desired, event);
    }
    await this.agent.report(desired, ...events);
  }

  /** What it signed reaches the log. */
  async pump(): Promise<void> {
    const { certChain } = this.agent.identity;
    for (let events = this.#journal.next(); events.length > 0; events = this.#journal.next()) {
      const request = { certChain, boot: this.#journal.boot, events };
      const { settledPseq } = await this.agent.call<{ settledPseq: number }>("audit", request);
      this.#journal.settle(settledPseq);
    }
  }

  [Symbol.dispose](): void {
    this.#journal[Symbol.dispose]();
  }
}

/** A job from its submission to its stored model. */
async function succeed(fixture: CoreFixture, signing: SigningAgent, slug: string): Promise<void> {
  const { agent } = signing;
  const { id } = await fixture.submit(slug);
  const members = await agent.desiredOf(id, 3);
  const [server, ...clients] = members as [DesiredMember, ...DesiredMember[]];
  for (const member of members)
    await signing.tell(
      member,
      { kind: "staged", bytes: 10 },
      { kind: "started", container: `c-${member.member}` },
      { kind: "ready" },
    );
  await signing.tell(server, { kind: "job-started", nvflareJob: "nv-1" }, { kind: "finished" });
  await agent.upload(server, "model_out/checkpoint.pt", "the model");
  await signing.tell(server, { kind: "outputs-uploaded", keys: ["model_out/checkpoint.pt"] });
  await fixture.until(id, "SUCCEEDED");
  for (const client of clients)
    await signing.tell(client, { kind: "finished" }, { kind: "outputs-uploaded", keys: [] }, CLEAN);
  await signing.tell(server, CLEAN);
}

async function completeness(t: Test, { core, auditd, dir }: CoreFixture) {
  // What is recorded is in the log.
  const waiting = async (): Promise<number> =>
    await core.commit.run((db) =>
      Number(db.prepare("SELECT count(*) FROM audit_outbox").pluck().get()),
    );
  for (let tries = 0; tries < 10_000 && (await waiting()) > 0; tries++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  t.equal(await waiting(), 0);
  await core.gate.covered((await core.gate.status()).size - 1);
  const file = join(dir, "export.tar");
  await exportLog({ logDir: auditd.logDir, file });
  const policy = readFileSync(auditd.policyFile);
  const { verdicts } = await verify({
    bundle: createReadStream(file),
    policy,
    platform: nodePlatform,
  });
  t.match(verdicts, { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } });
  return verdicts.COMPLETENESS;
}

t.test("jobs that succeed, fail, are cancelled and lost, told at once or late", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  using signing = new SigningAgent(await fixture.agent("node-a", 2), t.testdir({}));
  await succeed(fixture, signing, "late");
  await succeed(fixture, signing, "later");
  t.match(await completeness(t, fixture), {
    verdict: "PASS",
    reason: /; 0 starts and ends of members, .*, 14 not yet/,
  });
  await signing.pump();
  t.match(await completeness(t, fixture), {
    verdict: "PASS",
    reason: /; 14 starts and ends of members, each told by its node's agent/,
  });

  const bad = await fixture.submit("bad");
  const members = await signing.agent.desiredOf(bad.id, 3);
  for (const member of members) await signing.tell(member, { kind: "staged", bytes: 1 });
  await signing.tell(members[1]!, { kind: "failed", reason: "user_exception", message: "no" });
  for (const member of members) await signing.tell(member, CLEAN);
  await fixture.until(bad.id, "FAILED");
  await signing.pump();

  const waiting = await fixture.submit("cancelled");
  const cancelled = await signing.agent.desiredOf(waiting.id, 3);
  for (const member of cancelled) await signing.tell(member, { kind: "started", container: "c" });
  await fixture.cancel(waiting.id);
  for (const member of cancelled) await signing.tell(member, CLEAN);
  await fixture.until(waiting.id, "CANCELLED");
  await signing.pump();

  await fixture.restart();
  await signing.agent.register(2);
  await succeed(fixture, signing, "after a start");
  await signing.pump();
  t.match(await completeness(t, fixture), { verdict: "PASS" });
});

t.test(
  "a job that the agent reports and never signs is named as soon as the agent has signed what came after",
  async (t) => {
    const fixture = await CoreFixture.start();
    t.teardown(() => fixture.close());
    using signing = new SigningAgent(await fixture.agent("node-a", 2), t.testdir({}));
    await succeed(fixture, signing, "honest");
    await signing.pump();
    signing.isMute = true;
    await succeed(fixture, signing, "told by the coordinator alone");
    t.match(await completeness(t, fixture), { verdict: "PASS", reason: /, 7 not yet/ });
    signing.isMute = false;
    await succeed(fixture, signing, "honest again");
    await signing.pump();
    t.match(await completeness(t, fixture), {
      verdict: "FAIL",
      reason: /^CROSS-CHECK: .* was started, and the agent of node-a is not/,
    });
  },
);
