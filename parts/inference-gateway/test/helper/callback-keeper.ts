/**
 * A life of callbacks, until it is killed: keeps answers and posts them. `callback-keeper.ts DIR PORT ROOT.pem COUNT` prints the id of each answer once
 * it is kept, and `empty` once none waits any more.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, writeSync } from "node:fs";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Callbacks } from "../../src/callbacks/callbacks.ts";
import { CallbackSpool } from "../../src/callbacks/callback-spool.ts";
import { Outbound } from "../../src/outbound/outbound.ts";
import { keptAnswer, SECRET } from "./kept-answer.ts";
import { SILENT_LOG as log } from "@resontech/house/silent-log";

const [dir = "", port = "", root = "", count = ""] = process.argv.slice(2);
const allowed = { host: "localhost", port: Number(port), networks: ["127.0.0.0/8"] };
const outbound = new Outbound(
  { find: () => allowed },
  { s3: { names: ["s3"], address: "127.0.0.1", port: 1 }, rootPem: readFileSync(root, "utf8") },
);
const spool = await CallbackSpool.open(dir, (error) => {
  throw error;
});
const callbacks = new Callbacks(
  { spool, outbound, records: { note: async () => {}, isAvailable: true }, log },
  () => 20,
);
for (let n = 0; n < Number(count); n++) {
  const id = randomUUID();
  // Some are longer than a piece of a file.
  const body = Readable.from([Buffer.from(`${id}:`), Buffer.alloc((n % 5) * 50_000, id)]);
  const kept = keptAnswer(`https://localhost:${port}/hook`, { id });
  (await callbacks.keep(kept, SECRET, body)).destroy();
  writeSync(1, `${id}\n`);
}
while (!spool.all().next().done) await sleep(10);
await callbacks[Symbol.asyncDispose]();
writeSync(1, "empty\n");
