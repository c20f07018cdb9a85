import { linkSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { PERSON_HEADER } from "@resontech/contracts/operator-route";
import t, { type Test } from "tap";
import { hostPerson } from "../../src/audit/host-person.ts";
import { ControlRefusedError, coordinatorAt } from "../../src/first-boot/ask-coordinator.ts";

async function answering(t: Test, listener: RequestListener): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "rt-ask-"));
  const path = join(dir, "control");
  const server = createServer(listener);
  server.listen(path);
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
    rmSync(dir, { recursive: true });
  });
  return path;
}

t.test("what is asked goes as a request of its route, with the person of the host", async (t) => {
  const path = await answering(t, (request, response) => {
    const { method, url, headers } = request;
    t.match({ method, url }, { method: "POST", url: "/api/operator/keys/k_1/renew" });
    t.equal(headers[PERSON_HEADER] ?? null, hostPerson());
    void json(request).then((body) => {
      t.same(body, { days: 30 });
      response.end(JSON.stringify({ key: "k_12", expiresAt: "" }));
    });
  });
  t.same(await coordinatorAt(path)("key-renew", { key: "k_1", days: 30 }), {
    ...{ key: "k_12", expiresAt: "" },
  });
});

t.test("a refusal keeps its code, message and hint", async (t) => {
  const refusal = { code: "not_found", message: "there is no user ada", hint: "Look again." };
  const path = await answering(t, (_, response) =>
    response.writeHead(404).end(JSON.stringify(refusal)),
  );
  const asked = coordinatorAt(path)("user-show", { username: "ada" });
  await t.rejects(asked, new ControlRefusedError(refusal));
});

t.test("what is no answer of the coordinator is said to be none", async (t) => {
  const failing = await answering(t, (_, response) => response.writeHead(502).end("{}"));
  await t.rejects(coordinatorAt(failing)("status"), /answers status with 502 and no reason/);
  const silent = await answering(t, () => {});
  await t.rejects(coordinatorAt(silent, 50)("status"), /did not answer within 0.05 s/);
});

t.test("a coordinator that is away is named, with what to do", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "rt-ask-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const away = { code: "coordinator_away", hint: /appliance status/, message: /does not run/ };
  const path = join(folder, "control");
  await t.rejects(coordinatorAt(path)("status"), away, "its socket is not there");
  // A killed process leaves its socket: a second name of one that is closed in order stays as well.
  const ended = createServer().listen(join(folder, "first"));
  await once(ended, "listening");
  linkSync(join(folder, "first"), path);
  ended.close();
  await once(ended, "close");
  await t.rejects(coordinatorAt(path)("status"), away, "nobody listens on it");
});
