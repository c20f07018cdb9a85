/** Which ports count as the appliance's own although no supervisor answers. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import t from "tap";
import { identify, writePidFile } from "@resontech/appliance/process-identity";
import { ownPorts } from "../src/preflight/own-ports.ts";

/** A part whose child listens, as the front door does. */
const LISTENER = `
  const server = require("node:net").createServer().listen(0, "127.0.0.1", () => console.log(server.address().port));
`;
const PART = `
  require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(LISTENER)}], { stdio: "inherit" });
  setInterval(() => {}, 1000);
`;

t.test("a port of a part, or of its child, is the appliance's own; another's is not", async (t) => {
  const run = mkdtempSync(join(tmpdir(), "rt-ports-"));
  t.teardown(() => rmSync(run, { recursive: true, force: true }));
  const part = spawn(process.execPath, ["-e", PART], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  t.teardown(() => part.pid !== undefined && process.kill(-part.pid, "SIGKILL"));
  const [line] = (await once(createInterface({ input: part.stdout }), "line")) as [string];
  const other = createServer().listen(0, "127.0.0.1");
  t.teardown(() => other.close());
  await once(other, "listening");
  t.equal(ownPorts(run).size, 0, "nobody said that it is a part");
  writePidFile(join(run, "door.pid"), identify(part.pid ?? 0)!);
  t.same([...ownPorts(run)], [Number(line)]);
  t.notOk(ownPorts(run).has((other.address() as AddressInfo).port));
  writeFileSync(join(run, "door.pid"), `${part.pid} 1\n`);
  t.equal(ownPorts(run).size, 0, "another process has the number of one that ended");
});
