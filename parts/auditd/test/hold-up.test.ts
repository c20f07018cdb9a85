import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import t from "tap";
import { AuditLog } from "../src/commit/audit-log.ts";
import { Sidecar } from "../src/commit/sidecar.ts";
import { Ledger } from "../src/decisions/ledger.ts";
import { LogReader } from "@resontech/audit/format/tree/log-reader";
import { Wal } from "../src/wal/wal.ts";
import { hasRoom } from "@resontech/audit/testing/has-room";
import { temporaryFolder } from "@resontech/house/temporary-folder";

const lag = {
  type: "audit.witness.lag",
  object: { kind: "log", id: "auditd" },
  detail: { since_s: 901, witnessed_size: 0, size: 5, over: false },
} as const;

t.test(
  "leaves that no checkpoint covers hold up the acknowledgements of more; those of an earlier life do not",
  async (t) => {
    const folder = temporaryFolder(t);
    const wal = await Wal.open(join(folder, "wal"), 1_048_576, hasRoom);
    const sidecar = await Sidecar.open(join(folder, "disclosures"), 5, hasRoom);
    t.teardown(async () => {
      await wal.close();
      await sidecar.close();
    });
    let isHeld = false;
    const log = new AuditLog({
      boot: "boot-1",
      checkpointSize: 0,
      replayed: Array.from({ length: 5 }, (_, at) => Buffer.from(`{"leaf":${at}}`)),
      ledger: new Ledger(new Map()),
      wal,
      sidecar,
      reader: new LogReader(folder),
      previous: null,
      maxUncovered: 4,
      isHeld: () => isHeld,
      onDurable: () => {},
      onFatal: (error) => t.error(error),
    });
    t.equal(
      (await log.record(lag)).index,
      5,
      "the first batch of this life is not held up: only it has a checkpoint made",
    );
    const held = log.record(lag);
    t.equal(await Promise.race([held, setTimeout(200, "nothing")]), "nothing");
    log.covered(6);
    t.equal((await held).index, 6);
    isHeld = true;
    const first = await Promise.all(Array.from({ length: 9 }, () => log.record(lag)));
    t.equal(first.at(-1)?.index, 15, "while no checkpoint is made nothing waits for one");
  },
);
