import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import {
  type ComposedEvent,
  composeEvent,
  connectRecordProducer,
  type LeafRef,
} from "@resontech/audit/producer";
import { jobSubmit, keyList } from "@resontech/audit/testing/event-drafts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { startedAuditd } from "./helper/auditd-fixture.ts";

const BOOT = "1";
const ROUNDS = 6;

t.test(
  "kill -9 under load loses nothing acknowledged, doubles nothing, and repeats get the same index",
  async (t) => {
    const auditd = await startedAuditd(t, { checkpointMs: 20 });
    const rows: ComposedEvent[] = [];
    const acknowledged = new Map<number, LeafRef>();
    const compose = (): ComposedEvent => {
      const pseq = rows.length + 1;
      const draft =
        pseq % 2 === 0
          ? ({ ...keyList(), phase: "fact" } as const)
          : ({ ...jobSubmit(), phase: "requested" } as const);
      const row = composeEvent(draft, { boot: BOOT, pseq });
      rows.push(row);
      return row;
    };
    for (let round = 0; round < ROUNDS; round++) {
      const life = new AbortController();
      await using producer = await connectRecordProducer({
        socketPath: auditd.socket("coordinator-record"),
        boot: BOOT,
        signal: life.signal,
      });
      // Everything again from the first row: what is in the log already must get the index that it has.
      for (const row of rows)
        producer.append(row).then(
          (ref) => checkSame(row.pseq, ref),
          () => {},
        );
      // So many, and not so long: of operations that stay open the log takes 10,000.
      const most = rows.length + 1_000 + round * 400;
      // On a busy machine the first acknowledgement may come later than the last of them.
      while (rows.length < most || acknowledged.size === 0) {
        for (let n = 0; n < 20 && rows.length < most; n++) {
          const row = compose();
          producer.append(row).then(
            (ref) => checkSame(row.pseq, ref),
            () => {},
          );
        }
        await sleep(1);
      }
      await auditd.stop("SIGKILL");
      life.abort();
      await auditd.start();
    }
    function checkSame(pseq: number, ref: LeafRef): void {
      const known = acknowledged.get(pseq);
      if (known !== undefined && (known.index !== ref.index || known.leafHash !== ref.leafHash))
        t.fail(`event ${pseq} has two places`);
      acknowledged.set(pseq, ref);
    }
    await using last = await connectRecordProducer({
      socketPath: auditd.socket("coordinator-record"),
      boot: BOOT,
      highestAck: [...acknowledged.values()].reduce((a, b) => (a.index > b.index ? a : b)),
    });
    await Promise.all(rows.map((row) => last.append(row).then((ref) => checkSame(row.pseq, ref))));
    await last.close();
    t.equal(await auditd.stop(), 0);
    const leaves = await readLeaves(auditd.logDir);
    const mine = leaves
      .map((leaf, index) => ({ leaf, index }))
      .filter(({ leaf }) => leaf.prod === "coordinator-record");
    t.same(
      mine.map(({ leaf }) => leaf.pseq),
      rows.map(({ pseq }) => pseq),
      "each event once, in order, without a gap",
    );
    t.ok(
      mine.every(({ leaf, index }) => acknowledged.get(leaf.pseq)?.index === index),
      "each where its acknowledgement said",
    );
    t.notOk(leaves.some(({ type }) => type === "audit.lost" || type === "audit.rejected"));
    t.comment(
      `${rows.length} events, ${leaves.filter(({ type }) => type === "audit.wal.cut").length} cut batches`,
    );
  },
);

t.test(
  "an acknowledgement that the log does not bear out is logged as lost, and auditd drains",
  async (t) => {
    const auditd = await startedAuditd(t);
    const forged = { index: 500, leafHash: "ab".repeat(32) };
    const connect = () =>
      connectRecordProducer({
        socketPath: auditd.socket("coordinator-record"),
        boot: BOOT,
        highestAck: forged,
        firstPseq: 900,
      });
    await using producer = await connect();
    t.equal(producer.draining, true);
    await producer.append(composeEvent({ ...keyList(), phase: "fact" }, { boot: BOOT, pseq: 950 }));
    await producer.close();
    await (await connect()).close();
    await auditd.stop();
    const lost = (await readLeaves(auditd.logDir)).filter(({ type }) => type === "audit.lost");
    t.match(lost, [
      {
        object: { id: "coordinator-record" },
        detail: { index: 500, leaf_sha256: forged.leafHash },
      },
    ]);
    t.equal(lost.length, 1, "once, however often it is presented");
  },
);
