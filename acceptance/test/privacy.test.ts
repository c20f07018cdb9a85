import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { findLogShard } from "@resontech/audit/export";
import type { ApprovalProof } from "@resontech/contracts/approval-proof";
import { StepUpPeople } from "@resontech/audit/testing/step-up-people";
import { LocalAppliance } from "@resontech/house/local-appliance";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
const appliance = LocalAppliance.at(root);
const bin = (name: string): string => join(root, "current", "bin", name);

type Entry = { object: string; shard: string; index: number };

/** What the search finds, asked as the coordinator does: at the host by root, who sees every entry. */
async function search(query: Record<string, string>): Promise<Entry[]> {
  const config = JSON.parse(readFileSync(join(root, "etc", "coordinator.json"), "utf8")) as {
    audit: { searchSocket: string };
  };
  const socketPath = config.audit.searchSocket;
  const path = `/events?${new URLSearchParams({ ...query, limit: "100" }).toString()}`;
  const asked = request({ socketPath, path, headers: { host: "search" } });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(body);
  return (JSON.parse(body) as { events: Entry[] }).events;
}

async function untilFound(
  isIt: (entries: Entry[]) => boolean,
  query: Record<string, string>,
): Promise<Entry[]> {
  for (let tries = 0; tries < 3_000; tries++) {
    const entries = await search(query);
    if (isIt(entries)) return entries;
    await sleep(100);
  }
  throw new Error(`never so: ${isIt.toString()}`);
}

const privacy = (...args: string[]) =>
  spawnSync(bin("appliance"), ["--root", root, "privacy", ...args], { encoding: "utf8" });

t.test(
  "a person is found by name, disclosed to an auditor, held, and erased, by the installed appliance",
  async (t) => {
    const name = `canary-${randomBytes(6).toString("hex")}`;
    await appliance.command(["add-user", name]);
    const [made] = await untilFound(({ length }) => length > 0, {
      holds: `pii.username=${name}`,
      type: "iam.user.create",
    });
    const subject = made?.object ?? "";
    t.match(subject, /^u_[0-9a-f]{24}$/);
    const signers = StepUpPeople.besideRealm(appliance);
    const files = t.testdir();
    const signed = (name: string, proof: ApprovalProof): string[] => {
      const file = join(files, `${name}.json`);
      writeFileSync(file, JSON.stringify({ proof }));
      return ["--proof", file];
    };

    const out = join(files, "audit.tar");
    const { logDir } = await findLogShard(join(root, "data", "audit"));
    const [origin = ""] = readFileSync(join(logDir, "checkpoint"), "utf8").split("\n", 1);
    const receiver = "auditor-1";
    const opening = { origin, subjects: [subject], receiver };
    const asked = { subject, request: "req-1", legalBasis: "gdpr-17" };
    // All at once: what is signed before the supervisor gives the key up stays good.
    const disclosure = signed("disclosure", signers.disclosureProof(opening));
    const hold = signed("hold", signers.holdProof(subject, "case-1"));
    const lift = signed("lift", signers.liftProof(subject, "case-1"));
    const erasure = signed("erasure", signers.erasureProof(asked));
    const disclose = ["--disclose", subject, "--receiver", receiver, ...disclosure];
    const exported = JSON.parse(
      await appliance.command(["audit", "export", "--out", out, ...disclose]),
    ) as object;
    t.match(exported, { disclosed: { erased: Number } });
    t.ok(readFileSync(out, "latin1").includes(name), "the export opens what it was asked to open");
    const verifier = join(root, "current", "app", "sov-verify.mjs");
    const policy = join(root, "data", "audit", "audit.policy");
    const { stdout } = spawnSync(process.execPath, [verifier, out, "--policy", policy, "--json"], {
      encoding: "utf8",
    });
    t.match(JSON.parse(stdout), {
      verdicts: { INTEGRITY: { verdict: "PASS" }, DISCLOSURES: { verdict: "PASS" } },
    });

    const held = [subject, "--hold", "case-1"];
    t.match(privacy("hold", ...held), { status: 1, stderr: /approval_required/ });
    t.match(privacy("hold", ...held, ...hold), { status: 0 });
    const erase = ["erase", subject, "--request", "req-1", "--legal-basis", "gdpr-17"];
    t.match(privacy(...erase, ...erasure), { status: 1, stderr: /legal_hold/ });
    t.match(privacy(...erase), { status: 1, stderr: /approval_required/ });
    t.match(privacy(...erase, "--approval", "a_none"), { status: 1, stderr: /not_found/ });
    t.match(privacy("lift", ...held, ...hold), { status: 1, stderr: /step_up_nonce/ });
    t.match(privacy("lift", ...held, ...lift), { status: 0 });
    const erased = privacy(...erase, ...erasure);
    const said = readFileSync(join(root, "log", "vault.log"), "utf8").slice(-2_000);
    t.equal(erased.status, 0, `${erased.stderr}${said}`);
    t.match(JSON.parse(erased.stdout), { handedOut: 1, confirmed: true });
    await untilFound(({ length }) => length === 0, { holds: `pii.username=${name}` });
    t.match(JSON.parse(privacy("status").stdout), { connected: true, fault: null });
  },
);
