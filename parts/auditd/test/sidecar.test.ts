import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Sidecar } from "../src/commit/sidecar.ts";
import {
  encodeJsonFrame,
  FRAME,
  MAX_AUDITD_FRAME_BYTES,
} from "@resontech/audit/format/wire/frames";
import { hasRoom } from "@resontech/audit/testing/has-room";
import { temporaryFolder } from "@resontech/house/temporary-folder";

const disclosing = (index: number, value = `10.0.0.${index}`) => ({
  index,
  disclosures: [
    {
      field: "src.addr",
      subject: "usr-1",
      month: "2026-03",
      commitment: "c".repeat(64),
      salt: "5".repeat(64),
      value,
    },
  ],
});
const nameOf = (firstIndex: number) => `${String(firstIndex).padStart(16, "0")}.jsonl`;
const indicesOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line).index);
const indices = (folder: string) =>
  readdirSync(folder)
    .sort()
    .flatMap((name) => indicesOf(readFileSync(join(folder, name), "utf8")));

t.test(
  "keeps lines in order over its segments, and cuts those of leaves that did not make it",
  async (t) => {
    const folder = join(temporaryFolder(t), "disclosures");
    const sidecar = await Sidecar.open(folder, 0, hasRoom);
    await sidecar.append([disclosing(1), disclosing(5), disclosing(8)]);
    await sidecar.close();
    const second = await Sidecar.open(folder, 9, hasRoom);
    await second.append([disclosing(9), disclosing(12)]);
    await second.close();
    const third = await Sidecar.open(folder, 13, hasRoom);
    await third.append([disclosing(13)]);
    await third.close();
    t.same(
      readdirSync(folder),
      [nameOf(1), nameOf(9), nameOf(13)],
      "a life of auditd begins a segment of its own",
    );
    await Sidecar.open(folder, 12, hasRoom);
    t.same(indices(folder), [1, 5, 8, 9]);
    t.same(readdirSync(folder), [nameOf(1), nameOf(9)], "a segment of which nothing is left goes");
    appendFileSync(join(folder, nameOf(9)), '{"index":11,"field":"src.a');
    await Sidecar.open(folder, 12, hasRoom);
    t.same(indices(folder), [1, 5, 8, 9], "a torn line goes");
    const again = await Sidecar.open(folder, 12, hasRoom);
    await again.append([disclosing(12)]);
    await again.close();
    t.same(indices(folder), [1, 5, 8, 9, 12], "an index that was cut is given again");
  },
);

t.test(
  "hands out the oldest segment, closing the one that is written, and forgets it when told",
  async (t) => {
    const folder = join(temporaryFolder(t), "disclosures");
    const sidecar = await Sidecar.open(folder, 0, hasRoom);
    t.equal(await sidecar.oldest(), null, "nothing waits");
    await sidecar.append([disclosing(1), disclosing(5)]);
    const first = await sidecar.oldest();
    t.match(first, { segment: nameOf(1), lastIndex: 5 });
    await sidecar.append([disclosing(6)]);
    t.same(indicesOf(first!.text), [1, 5]);
    t.same(await sidecar.oldest(), first, "the same again until it is sealed");
    await t.rejects(sidecar.erase(nameOf(6)), { name: "RangeError" }, "the one that is written");
    await t.rejects(sidecar.erase("../../checkpoint"), { name: "RangeError" });
    await sidecar.erase(nameOf(1));
    await sidecar.erase(nameOf(1));
    t.match(await sidecar.oldest(), { segment: nameOf(6), lastIndex: 6 });
    await sidecar.erase(nameOf(6));
    await sidecar.append([disclosing(7)]);
    t.match(await sidecar.oldest(), { segment: nameOf(7) });
    t.same(readdirSync(folder), [nameOf(7)]);
    await sidecar.close();
  },
);

t.test(
  "appends that meet a hand-over lose nothing and write to no segment that is gone",
  async (t) => {
    const folder = join(temporaryFolder(t), "disclosures");
    const sidecar = await Sidecar.open(folder, 0, hasRoom);
    const seen: number[] = [];
    let index = 0;
    const appending = (async () => {
      for (; index < 200; index++) await sidecar.append([disclosing(index)]);
    })();
    const take = async () => {
      for (;;) {
        const found = await sidecar.oldest();
        if (found === null && index >= 200) return;
        if (found === null) continue;
        seen.push(...indicesOf(found.text));
        await sidecar.erase(found.segment);
      }
    };
    await Promise.all([appending, take()]);
    t.same(
      seen,
      Array.from({ length: 200 }, (_, at) => at),
    );
    t.same(readdirSync(folder), []);
  },
);

t.test("a kill while a sealed segment is overwritten leaves nothing of it", async (t) => {
  const folder = join(temporaryFolder(t), "disclosures");
  const sidecar = await Sidecar.open(folder, 0, hasRoom);
  await sidecar.append([disclosing(1), disclosing(2)]);
  await sidecar.close();
  const half = readFileSync(join(folder, nameOf(1)));
  half.fill(0, 0, 100);
  renameSync(join(folder, nameOf(1)), join(folder, `${nameOf(1)}.sealed`));
  writeFileSync(join(folder, `${nameOf(1)}.sealed`), half);
  const again = await Sidecar.open(folder, 3, hasRoom);
  t.equal(await again.oldest(), null);
  t.same(readdirSync(folder), []);
});

t.test("a segment fits in a frame whatever its values are", async (t) => {
  const folder = join(temporaryFolder(t), "disclosures");
  const sidecar = await Sidecar.open(folder, 0, hasRoom);
  const worst = { ...disclosing(0).disclosures[0]!, value: '"'.repeat(8_192) };
  const one = (index: number) => ({ index, disclosures: Array.from({ length: 15 }, () => worst) });
  await sidecar.append(Array.from({ length: 40 }, (_, at) => one(at)));
  const segments = readdirSync(folder);
  t.ok(segments.length > 1, "a batch is spread over segments");
  const spooled = await sidecar.oldest();
  t.ok(spooled!.text.length > 4_194_304);
  await sidecar.close();
  t.ok(encodeJsonFrame(FRAME.reply, { id: 1, spooled }).length < MAX_AUDITD_FRAME_BYTES);
});

t.test(
  "a write that is tried again, because there was no room at first, stands there once",
  async (t) => {
    const folder = join(temporaryFolder(t), "disclosures");
    let isOpen = false;
    let tries = 0;
    const secondTry = async <T>(write: () => Promise<T>): Promise<T> => {
      if (!isOpen) {
        isOpen = true;
        return write();
      }
      tries += 2;
      await write();
      return write();
    };
    const sidecar = await Sidecar.open(folder, 0, secondTry);
    for (const index of [1, 2, 3, 4]) await sidecar.append([disclosing(index)]);
    await sidecar.append([disclosing(5), disclosing(6)]);
    await sidecar.close();
    t.same(indices(folder), [1, 2, 3, 4, 5, 6]);
    t.equal(tries, 10, "each was tried twice");
  },
);
