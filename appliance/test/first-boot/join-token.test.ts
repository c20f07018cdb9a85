/** The local agent's join token, of a control socket that gives a new one each time. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { RENEWAL_GRACE_MS } from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import { CertificateAuthority } from "../../src/ca/certificate-authority.ts";
import { ROOT } from "../../src/config/owned-file.ts";
import { ensureJoinToken } from "../../src/first-boot/first-boot.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { scriptedCoordinator } from "../helper/scripted-coordinator.ts";

async function contextOf(t: Test): Promise<PartContext & { asked: string[] }> {
  const layout = new Layout(t.testdir({ data: { agent: {} } }), `token-${process.pid}`);
  mkdirSync(layout.run("coordinator"), { recursive: true });
  const asked: string[] = [];
  await scriptedCoordinator(t, layout, (route, body) => {
    asked.push(`${route} ${JSON.stringify(body)}`);
    return { token: `token-${asked.length}`, expiresAt: "" };
  });
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  const config = { agent: { node: "n1" } } as ApplianceConfig;
  return { layout, config, release: { version: "1" } as PartContext["release"], parts: [], asked };
}

t.test(
  "until the agent has joined, each start gives it a new token: the one before may be used up or too old",
  async (t) => {
    const context = await contextOf(t);
    const file = context.layout.data("agent", "join-token");
    for (const token of ["token-1", "token-2"]) {
      await ensureJoinToken(context);
      t.equal(readFileSync(file, "utf8"), token);
      t.equal(statSync(file).mode & 0o777, 0o400);
    }
    t.equal(context.asked[0], 'POST /api/operator/nodes/tokens {"node":"n1","ttlS":3600}');
    const ca = new CertificateAuthority(context.layout.caDir);
    await ca.ensureRoot("test");
    const folder = context.layout.secrets("agent");
    await ca.ensureClient(folder, ROOT, "node");
    copyFileSync(`${folder}/node.crt`, context.layout.data("agent", "node.crt"));
    await ensureJoinToken(context);
    t.equal(context.asked.length, 2, "one that has joined needs none");
    const ended = Date.now() + 398 * 86_400_000;
    await ensureJoinToken(context, ended);
    t.equal(context.asked.length, 2, "one that has ended still admits it to the next");
    await ensureJoinToken(context, ended + RENEWAL_GRACE_MS);
    t.equal(readFileSync(file, "utf8"), "token-3", "after that it joins again");
  },
);
