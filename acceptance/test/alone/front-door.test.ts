/** Port 8000 of the installed appliance: what of the real Keycloak passes, and what clients see while the coordinator restarts. */
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:https";
import type { IncomingMessage } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { LocalAppliance } from "@resontech/house/local-appliance";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);
const { RESON_BASE_URL: base = "", SSL_CERT_FILE: rootCert = "" } = appliance.quickstart();
const ca = readFileSync(rootCert);

async function get(path: string): Promise<{ status: number; body: string }> {
  const sent = request(new URL(path, base), { ca, agent: false });
  sent.end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}

t.test("a browser finds Keycloak's sign-in there, and none of its consoles", async (t) => {
  const realm = "/realms/resontech";
  const found = await get(`${realm}/.well-known/openid-configuration`);
  t.equal(found.status, 200);
  const issuer = `${base}${realm}`;
  t.match(JSON.parse(found.body), { issuer, token_endpoint: new RegExp(`^${issuer}/`) });
  // No client of the realm may ask in this way: Keycloak's own page says so, with style and script.
  const page = await get(`${realm}/protocol/openid-connect/auth?client_id=x`);
  t.equal(page.status, 400);
  const files = [...page.body.matchAll(/(?:href|src)="(\/resources\/[^"]+)"/g)];
  t.ok(files.length >= 3, page.body);
  for (const [, file = ""] of files) t.equal((await get(file)).status, 200, file);
  for (const path of ["/admin/", "/admin/master/console/", "/realms/master", "/health"])
    t.match(await get(path), { status: 404, body: /"code":"not_found"/ }, path);
  t.match(await get("/metrics"), { status: 401, body: /metrics_token_invalid/ }, "our own");
});

t.test("while the coordinator restarts, the door says so, and nothing else happens", async (t) => {
  const seen = new Set<string>();
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      const { status, body } = await get("/healthz").catch((error: unknown) => ({
        ...{ status: 0, body: String(error) },
      }));
      seen.add(status === 200 ? "200" : `${status} ${/"code":"(\w+)"/.exec(body)?.[1] ?? body}`);
      await sleep(10);
    }
  })();
  await appliance.command(["restart", "coordinator"]);
  over.abort();
  await watching;
  // The last request that it took may have been on its way.
  seen.delete("502 answer_lost");
  t.same([...seen].sort(), ["200", "503 restarting"]);
});
