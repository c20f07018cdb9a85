import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import t from "tap";
import { getPersonalData } from "../../src/people/get-personal-data.ts";

const LINES = [
  { part: "about", person: "u_1", entries: "all" },
  { part: "user", username: "änna" },
  { part: "entry", entry: {} },
  { part: "end", lines: 3 },
].map((line) => `${JSON.stringify(line)}\n`);

t.test("what came whole is a file of one's own; what was cut off is none", async (t) => {
  let [status, pieces, breaks] = [200, LINES, false];
  const server = createServer((_, answer) => {
    answer.writeHead(status);
    for (const piece of pieces) answer.write(piece);
    if (breaks) answer.write("", () => answer.destroy());
    else answer.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const dir = t.testdir();
  const file = join(dir, "anna.jsonl");
  const settings = {
    ...{ baseUrl: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), ca: null },
    project: null,
    credential: async () => "token",
  };
  const get = () => getPersonalData(settings, "u_1", file);

  pieces = LINES.slice(0, 3);
  await t.rejects(get(), { code: "answer_cut" }, "without its last line");
  breaks = true;
  await t.rejects(get(), { code: "answer_cut" }, "in the middle");
  breaks = false;
  pieces = [LINES[0]!, LINES[3]!];
  await t.rejects(get(), { code: "answer_cut" }, "with lines missing");
  pieces = ['{"code":"not_found","message":"there is no such user","hint":"h"}'];
  status = 404;
  await t.rejects(get(), { code: "not_found", hint: "h" });
  t.same(readdirSync(dir), [], "nothing is left");

  status = 200;
  const bytes = Buffer.from(LINES.join(""));
  const half = bytes.indexOf("ä") + 1;
  pieces = [bytes.subarray(0, half), bytes.subarray(half)] as unknown as string[];
  t.same(await get(), { lines: 3, entries: 1, whose: "all" });
  t.same(readFileSync(file), bytes);
  t.equal(statSync(file).mode & 0o777, 0o600);
  writeFileSync(file, "mine");
  await t.rejects(get(), { code: "file_exists" });
  t.equal(readFileSync(file, "utf8"), "mine");
  t.notOk(existsSync(`${file}.part`));
});
