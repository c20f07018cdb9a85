/** What a killed vault had asked the log for, and had not ended, is ended by its next life. */
import { once } from "node:events";
import { cpSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { until } from "@resontech/audit/testing/until";
import type { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { verified } from "@resontech/auditd/testing/verified";
import { atRest } from "./helper/vault-fixture.ts";
import { backdate } from "./helper/backdate.ts";
import { damagedSegment } from "./helper/damaged-segment.ts";
import { disclosing, erase, setHold } from "./helper/privacy-requests.ts";
import { gateOf, startedBoth } from "./helper/started-both.ts";
import { isSaidSo, phasesOf } from "./helper/phases-of.ts";
import { say } from "./helper/say.ts";

const isSaid = (auditd: AuditdFixture, type: string, count: number) => async () =>
  (await phasesOf(auditd, type)).length === count;

t.test(
  "killed before the log has what was asked for, a hold and a disclosure fail and do nothing",
  async (t) => {
    // Else what waits for auditd may be the vault's own look for what there is to seal, and the request behind it.
    const [auditd, vault] = await startedBoth(t, { pollMs: 60_000 });
    for (const [type, request] of [
      ["privacy.hold", setHold()],
      ["privacy.disclose", disclosing(auditd)],
    ] as const) {
      process.kill(auditd.pid, "SIGSTOP");
      const asked = vault.askAll(request).catch(() => []);
      await until(async () => (await vault.status()).underWay === 1);
      await vault.stop("SIGKILL");
      t.same(await asked, [], "nobody is told anything");
      process.kill(auditd.pid, "SIGCONT");
      await vault.start();
      await until(atRest(vault));
      await until(isSaid(auditd, type, 1));
      await until(async () => (await phasesOf(auditd, type))[0]?.includes(",") === true);
      t.same(await phasesOf(auditd, type), ["requested, failed interrupted"], type);
      t.match(await vault.status(), { holds: 0 });
    }
    t.match(await vault.ask(setHold()), { holds: ["case-7"] }, "it can be asked for again");
  },
);

t.test(
  "killed while a receiver is handed what opens commitments, a disclosure has failed",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await using gate = await gateOf(auditd);
    const count = 1_500;
    // More than the buffers between the two take.
    for (let n = 0; n < count; n += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, at) =>
          say(gate, "usr-1", `10.0.${n + at}.1${"x".repeat(200)}`),
        ),
      );
    await until(async () => (await vault.status()).sealed === count, 60_000);
    const socket = connect(vault.config.controlSocket);
    socket.on("error", () => {});
    t.teardown(() => socket.destroy());
    socket.pause();
    const { verb, ...body } = disclosing(auditd);
    const question = JSON.stringify(body);
    socket.write(
      `POST /${verb} HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(question)}\r\n\r\n${question}`,
    );
    await until(isSaid(auditd, "privacy.disclose", 1));
    await once(socket, "readable");
    t.equal((await vault.status()).underWay, 1, "it waits for its receiver");
    await vault.stop("SIGKILL");
    await vault.start();
    await until(
      async () => (await phasesOf(auditd, "privacy.disclose"))[0]?.includes(",") === true,
    );
    t.same(await phasesOf(auditd, "privacy.disclose"), ["requested, failed interrupted"]);
  },
);

t.test("killed at any moment, what retention ends comes to its end once, by itself", async (t) => {
  const [auditd, vault] = await startedBoth(t, { pollMs: 10 });
  await using gate = await gateOf(auditd);
  await auditd.control({ verb: "clock-is-right" });
  const rounds = 6;
  for (let round = 0; round < rounds; round++) {
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => say(gate, `usr-${round}`, `10.${round}.0.${n}`)),
    );
    await until(async () => (await vault.status()).sealed === 20);
    await vault.stop();
    backdate(auditd.root, `usr-${round}`);
    await vault.start();
    await sleep(round * 40);
    await vault.stop("SIGKILL");
    await vault.start();
    await until(async () => (await vault.status()).erased === 20 * (round + 1), 60_000);
    await until(atRest(vault));
  }
  const isEnded = (phases: string) =>
    phases.startsWith("requested, completed") || phases === "requested, failed interrupted";
  await until(async () => (await phasesOf(auditd, "privacy.retention")).every(isEnded));
  const said = await phasesOf(auditd, "privacy.retention");
  t.equal(
    said.filter((phases) => phases.startsWith("requested, completed")).length,
    rounds,
    said.join("; "),
  );
  t.match(await vault.status(), { sealed: 0, erased: 20 * rounds, keys: 0, fault: null });
});

t.test(
  "an erasure that a database which was put back knows nothing of is ended in the log, once",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await using gate = await gateOf(auditd);
    const mended = await damagedSegment(auditd, vault, gate);
    const older = join(auditd.root, "older");
    cpSync(vault.config.dataDir, older, { recursive: true });
    await vault.start();
    await until(async () => (await vault.status()).connected);
    t.match(await vault.ask(erase("usr-1")), { error: { code: "spool_blocked" } });
    t.match(await vault.status(), { underWay: 1 });
    await vault.stop("SIGKILL");
    await auditd.settled();
    t.same(await phasesOf(auditd, "privacy.erasure"), ["requested"]);
    rmSync(vault.config.dataDir, { recursive: true });
    cpSync(older, vault.config.dataDir, { recursive: true });
    await vault.start();
    const isEnded = async () =>
      (await phasesOf(auditd, "privacy.erasure"))[0]?.includes(",") === true;
    await until(isEnded);
    t.match(await vault.status(), { underWay: 0, holdsInDoubt: true });
    await vault.stop();
    await vault.start();
    await mended();
    await until(atRest(vault));
    t.match(
      await vault.ask({
        verb: "confirm-holds",
        requester: "usr-law",
        approvers: ["usr-a", "usr-b"],
      }),
      { holds: 0 },
    );
    t.match(await vault.ask(erase("usr-1")), { confirmed: true }, "it can be asked for again");
    await auditd.settled();
    t.same(await phasesOf(auditd, "privacy.erasure"), [
      "requested, failed interrupted",
      "requested, completed ok, fact",
    ]);
    t.match(await verified(auditd), {
      verdicts: { COMPLETENESS: { verdict: "PASS" } },
      findings: { operations: { open: 0, overdue: 0 } },
    });
  },
);

t.test(
  "an operation that the vault has under way stays open while it asks auditd for those that it lacks",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await using gate = await gateOf(auditd);
    const mended = await damagedSegment(auditd, vault, gate);
    await vault.start();
    await until(async () => (await vault.status()).connected);
    t.match(await vault.ask(erase("usr-1")), { error: { code: "spool_blocked" } });
    await vault.stop("SIGKILL");
    await vault.start();
    await until(async () => (await vault.status()).connected);
    t.match(await vault.status(), { underWay: 1 });
    await mended();
    await until(atRest(vault));
    await t.resolves(until(isSaidSo(auditd, "privacy.erasure", "requested, completed ok, fact")));
  },
);
