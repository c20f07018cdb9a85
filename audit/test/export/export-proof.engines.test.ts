import { readFileSync } from "node:fs";
import t from "tap";
import { exportProof } from "../../src/export/export-proof.ts";
import { connectProducer } from "../../src/producer/producer.ts";
import { verifyProof } from "@resontech/verifier/event-proof";
import { nodePlatform } from "@resontech/verifier/platform/platform-node";
import { inHundreds } from "../helper/in-hundreds.ts";
import { jobSubmit } from "../helper/event-drafts.ts";
import { startedAuditd } from "@resontech/auditd/testing/auditd-fixture";

t.test(
  "the proof of one event says what one leaf and one checkpoint can say, and nothing more",
  async (t) => {
    const auditd = await startedAuditd(t);
    await using producer = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b-1",
    });
    const acks = await inHundreds(600, () => producer.requested(jobSubmit()));
    await producer.covered(acks.at(-1)!.index);
    const policy = readFileSync(auditd.config.policyFile);
    for (const index of [0, 255, 256, acks[300]!.index]) {
      const text = await exportProof(auditd.logDir, index);
      const report = await verifyProof(Buffer.from(text), policy, nodePlatform);
      t.match(report, {
        refused: null,
        index,
        event: /^\{"action"|^\{"actor"/,
        verdicts: {
          SIGNATURE: { verdict: "PASS" },
          INTEGRITY: { verdict: "PASS" },
          WITNESSED: { verdict: "NOT CHECKED" },
          COMPLETENESS: { verdict: "NOT CHECKED", reason: /one event says nothing/ },
        },
      });
      const [header, extra = "", place, first = "", ...rest] = text.split("\n");
      const judged = async (lines: (string | undefined)[]) =>
        verifyProof(Buffer.from(lines.join("\n")), policy, nodePlatform);
      const other = Buffer.from(extra.slice(6), "base64").toString().replace('"v":1', '"v":2');
      t.match(
        (
          await judged([
            header,
            `extra ${Buffer.from(other).toString("base64")}`,
            place,
            first,
            ...rest,
          ])
        ).verdicts.INTEGRITY,
        { verdict: "FAIL" },
        "another event",
      );
      t.match(
        (await judged([header, extra, `index ${index + 1}`, first, ...rest])).verdicts.INTEGRITY,
        { verdict: "FAIL" },
        "another place",
      );
      t.match(
        (await judged([header, extra, place, ...rest])).verdicts.INTEGRITY,
        { verdict: "FAIL" },
        "a hash left out",
      );
      t.match(
        (await judged([header, extra, place, first, first, ...rest])).verdicts.INTEGRITY,
        { verdict: "FAIL" },
        "a hash too many",
      );
      t.match(await judged([header, place, first, ...rest]), { refused: /lacks its leaf/ });
    }
    t.match(
      (await verifyProof(Buffer.from(await exportProof(auditd.logDir, 3)), null, nodePlatform))
        .verdicts,
      {
        SIGNATURE: { verdict: "SELF-ASSERTED" },
        INTEGRITY: { verdict: "PASS" },
      },
    );
    await t.rejects(exportProof(auditd.logDir, 1_000_000), RangeError);
  },
);
