import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { RunningFront } from "./helper/running-front.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());

/** Longest time after auditd's last sign of life in which something may pass that has no record. */
const BELIEVED_MS = 2_500;
/** So many are tried, one after the other, and none of them asks for a record. */
const GIVE_UP_MS = 8_000;

t.test(
  "parts, which have no record of their own, stop soon after auditd hangs, and pass again once it answers",
  async (t) => {
    const user = await front.addUser();
    const store = front.storeOf(user);
    const upload = await store.createUpload(user.bucket, "big", "application/zip");
    const put = async (partNumber: number) => {
      const url = await store.presignPart(user.bucket, "big", upload, partNumber, 60);
      const sentAt = performance.now();
      const answer = await fetchWithCa(front.caPem, url, { method: "PUT", body: "part" });
      return {
        partNumber,
        sentAt,
        status: answer.status,
        text: await answer.text(),
      };
    };
    const stored = async (): Promise<number[]> => {
      // A list has a thousand parts at most, and a fast machine stores more before auditd counts as hung.
      const numbers: number[] = [];
      for (let after: number | undefined = 0; after !== undefined; ) {
        const query = { uploadId: upload, "part-number-marker": String(after), "max-parts": "100" };
        const { body } = await front
          .transportOf(user.keys)
          .send({ method: "GET", path: [user.bucket, "big"], query });
        const page = body.toString();
        numbers.push(
          ...[...page.matchAll(/<PartNumber>(\d+)</g)].map(([, number]) => Number(number)),
        );
        after = page.includes("<IsTruncated>true<") ? numbers.at(-1) : undefined;
      }
      return numbers;
    };
    const first = await put(1);
    t.equal(first.status, 200);
    process.kill(front.auditd.pid, "SIGSTOP");
    const hungAt = performance.now();
    const passed = [first];
    let refused = await put(2);
    for (
      let next = 3;
      refused.status === 200 && performance.now() - hungAt < GIVE_UP_MS;
      next += 1
    ) {
      passed.push(refused);
      refused = await put(next);
    }
    t.match(refused, { status: 503, text: /ServiceUnavailable[\s\S]*audit log/ });
    const late = passed.filter(({ sentAt }) => sentAt - hungAt > BELIEVED_MS);
    t.same(late, [], "nothing passed later");
    const more = await Promise.all([9_001, 9_002, 9_003].map(put));
    t.same(
      more.map(({ status }) => status),
      [503, 503, 503],
    );
    // That nobody waits again for an answer that is overdue is judged where it is decided: liveness.test.ts.
    t.equal((await fetchWithCa(front.caPem, `${front.endpoint}/readyz`)).status, 503);
    process.kill(front.auditd.pid, "SIGCONT");
    let again = await put(9_004);
    for (
      const deadline = performance.now() + 120_000;
      again.status !== 200 && performance.now() < deadline;
      await sleep(20)
    )
      again = await put(9_004);
    t.equal(again.status, 200);
    t.same(
      await stored(),
      [...passed.map(({ partNumber }) => partNumber), 9_004],
      "of what was refused nothing is in the store",
    );
  },
);
