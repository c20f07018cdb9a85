import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { tensorRows, writeTensors } from "../src/infer/tensors-file.ts";

function fileOf(header: unknown, data = Buffer.alloc(0)): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
}

t.test("tensors come first, then what stands beside them", async (t) => {
  const rows = tensorRows(
    fileOf(
      {
        __metadata__: { labels: '["cat","\u001b[2J"]' },
        scores: { dtype: "F32", shape: [1, 2], data_offsets: [0, 8] },
        one: { dtype: "BF16", shape: [], data_offsets: [8, 10] },
      },
      Buffer.alloc(10),
    ),
  );
  t.same(rows.slice(0, 2), [
    ["scores", "F32", "[1, 2]"],
    ["one", "BF16", "[]"],
  ]);
  t.match(rows[2], ["labels", "JSON", /cat/]);
  t.notMatch(rows[2]?.[2], "\u001b", "nothing steers the terminal");
  t.same(tensorRows(fileOf({})), []);
});

t.test("what is no such file is refused, however it lies about itself", async (t) => {
  const long = fileOf({});
  long.writeBigUInt64LE(2n ** 64n - 1n);
  for (const bytes of [
    ...[Buffer.alloc(0), Buffer.from("{}"), Buffer.from('{"said": "hello"}'), long],
    ...[fileOf([]), fileOf(null), fileOf({ a: 1 }), fileOf({ a: {} }), fileOf({ a: [1] })],
    fileOf({ a: { dtype: "F32", shape: "2" } }),
  ])
    t.throws(() => tensorRows(bytes), { code: "reply_invalid" }, bytes.toString());
});

t.test("a file that is there stays as it is", async (t) => {
  const dir = t.testdir({});
  const file = join(dir, "a.safetensors");
  writeTensors(file, fileOf({}));
  t.same(readFileSync(file), fileOf({}));
  writeFileSync(file, "mine");
  t.throws(() => writeTensors(file, fileOf({})), { code: "file_exists" });
  t.equal(readFileSync(file, "utf8"), "mine");
  t.throws(() => writeTensors(join(dir, "none/a"), fileOf({})), { code: "file_unwritable" });
});
