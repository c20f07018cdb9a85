/**
 * Stands in auditd's place and acknowledges at once: it keeps nothing, writes nothing, checks nothing. A measure of what everything but the log costs,
 * and of no other use. `node main.mjs --config auditd.json`
 */
import { createHash } from "node:crypto";
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { parseArgs } from "node:util";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { NodeEventsReply } from "@resontech/contracts/node-audit";
import type { LogStatus } from "@resontech/contracts/audit-control";
import {
  encodeJsonFrame,
  FRAME,
  type FrameKind,
  FrameReader,
  type Hello,
  MAX_PRODUCER_FRAME_BYTES,
  type Query,
  splitAppend,
  type Welcome,
  type Witnessed,
} from "@resontech/audit/format/wire/frames";

const { values } = parseArgs({ options: { config: { type: "string" } }, allowPositionals: true });
const { producers, originPrefix, inception } = JSON.parse(
  readFileSync(values.config ?? "", "utf8"),
) as AuditdConfig;
const origin = `${originPrefix}/${inception.slice(0, 4)}`;
let size = 0;

const status = (): LogStatus => ({
  ...{ origin, size, checkpointSize: size, batches: size, draining: false, highestGeneration: 0 },
  ...{ rolledBack: null, loopLagMs: 0, clock: { trusted: false, heartbeatAt: null } },
});

function replyTo(query: Query): object {
  switch (query.verb) {
    case "open-operations":
      return { operations: [] };
    case "said-of":
      return { said: [] };
    case "status":
      return status();
    case "cover":
      return { checkpointSize: query.index + 1 };
    case "witnessed":
      return {
        witnessed: true,
        needsWitness: false,
        mayGoOn: true,
        witnessedSize: size,
      } satisfies Witnessed;
    case "shard-of":
      return { origin };
    case "disclosures":
      return { spooled: null };
    case "cosign":
      return { accepted: 0 };
    case "sealed":
      return {};
    case "delete-shards":
      return { origins: [] };
    case "relay": {
      const { pseq } = JSON.parse(query.events.at(-1)?.event ?? '{"pseq":0}') as { pseq: number };
      return { settledPseq: pseq, refused: null } satisfies NodeEventsReply;
    }
  }
}

function serve(prod: string, socket: Socket): void {
  const reader = new FrameReader(MAX_PRODUCER_FRAME_BYTES);
  let pseq = 0;
  const send = (kind: FrameKind, payload: unknown): void =>
    void socket.write(encodeJsonFrame(kind, payload));
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    for (const { kind, payload } of reader.push(chunk)) {
      if (kind === FRAME.hello) {
        pseq = (JSON.parse(payload.toString("utf8")) as Hello).firstPseq - 1;
        send(FRAME.welcome, { prod, lastPseq: pseq, draining: false } satisfies Welcome);
      } else if (kind === FRAME.append) {
        pseq += 1;
        const { event = payload } = splitAppend(payload) ?? {};
        send(FRAME.acks, [[pseq, size++, createHash("sha256").update(event).digest("hex")]]);
      } else {
        const query = JSON.parse(payload.toString("utf8")) as Query & { id: number };
        send(FRAME.reply, { id: query.id, ...replyTo(query) });
      }
    }
  });
}

for (const { name, socket } of producers) {
  rmSync(socket, { force: true });
  createServer((connection) => serve(name, connection)).listen(socket, () =>
    chmodSync(socket, 0o660),
  );
}
