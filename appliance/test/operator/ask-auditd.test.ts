import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { askAuditd } from "../../src/operator/ask-auditd.ts";

t.test(
  "where nobody listens, and nobody does any more, the operator is told what to do",
  async (t) => {
    // A path of a socket has at most 107 bytes.
    const dir = mkdtempSync(join(tmpdir(), "rt-ask-"));
    t.teardown(() => rmSync(dir, { recursive: true }));
    const path = join(dir, "sock");
    const away = { code: "auditd_away", hint: /appliance status/ };
    await t.rejects(askAuditd(path, { verb: "status" }), away);
    const server = createServer((_request, response) =>
      response.writeHead(409).end(JSON.stringify({ code: "no", message: "not now" })),
    ).listen(path);
    await once(server, "listening");
    await t.rejects(askAuditd(path, { verb: "status" }), { code: "no", message: "not now" });
    server.close();
    await once(server, "close");
    await t.rejects(askAuditd(path, { verb: "status" }), away);
  },
);
