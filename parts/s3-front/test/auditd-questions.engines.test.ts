import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { connectProducer } from "@resontech/audit/producer";
import t, { type Test } from "tap";
import { FRAME, FrameReader, MAX_PRODUCER_FRAME_BYTES } from "@resontech/audit/format/wire/frames";
import { startedAuditd } from "@resontech/auditd/testing/auditd-fixture";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { Trail } from "../src/audit/trail.ts";

/** Stands between a producer and auditd, and counts what is asked. */
class CountedQuestions {
  readonly socketPath: string;
  asked = 0;

  constructor(t: Test, auditdSocket: string) {
    this.socketPath = join(temporaryFolder(t), "between.sock");
    const server = createServer((producer) => {
      const reader = new FrameReader(MAX_PRODUCER_FRAME_BYTES);
      const auditd = connect(auditdSocket);
      producer.on("data", (chunk: Buffer) => {
        for (const { kind } of reader.push(chunk)) if (kind === FRAME.query) this.asked += 1;
      });
      producer.pipe(auditd).pipe(producer);
      for (const socket of [producer, auditd])
        socket.on("error", () => {}).on("close", () => producer.destroy());
    }).listen(this.socketPath);
    t.teardown(() => server.close());
  }
}

t.test(
  "however many must know whether auditd is there, it is asked once a second, and once while it hangs",
  async (t) => {
    const auditd = await startedAuditd(t);
    const questions = new CountedQuestions(t, auditd.socket("coordinator-gate"));
    await using producer = await connectProducer({ socketPath: questions.socketPath, boot: "b" });
    const trail = new Trail(producer, () => {});
    await trail.demand();
    t.equal(questions.asked, 1);
    const from = performance.now();
    let passed = 0;
    for (; performance.now() - from < 3_000; await turn()) {
      await Promise.all(Array.from({ length: 20 }, () => trail.demand()));
      passed += 20;
    }
    t.ok(questions.asked >= 2 && questions.asked <= 4, `${questions.asked} questions`);
    t.ok(passed > 100 * questions.asked, `${passed} passed`);
    const passes = (): Promise<boolean> =>
      trail.demand().then(
        () => true,
        () => false,
      );
    process.kill(auditd.pid, "SIGSTOP");
    const before = questions.asked;
    while (await passes()) await turn();
    for (let round = 0; round < 20; round += 1)
      t.notOk(
        (await Promise.all(Array.from({ length: 50 }, passes))).includes(true),
        "all are refused",
      );
    t.ok(questions.asked <= before + 1, `${questions.asked - before} questions to who hangs`);
    process.kill(auditd.pid, "SIGCONT");
    while (!(await passes())) await turn();
    t.ok(questions.asked <= before + 2);
  },
);
