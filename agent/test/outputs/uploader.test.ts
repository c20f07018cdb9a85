import { closeSync, openSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { OutputOpenReply } from "@resontech/contracts/agent-protocol";
import t from "tap";
import { Uploader } from "../../src/outputs/uploader.ts";

const member = { member: "m", fence: { generation: 1, counter: 1 } };
const opened = { upload: "u", partSizeBytes: 1024, urls: [] } as OutputOpenReply;
const never = () => new Promise<never>(() => undefined);

t.test("who is abandoned waits for no answer: its open file would keep the disk from being unmounted", async (t) => {
  const file = join(t.testdir({}), "output.log");
  writeFileSync(file, "x");
  const fd = openSync(file, "r");
  t.teardown(() => closeSync(fd));
  for (const [where, outputOpen] of [
    ["open", never],
    ["complete", async () => opened],
  ] as const) {
    const abandoned = new AbortController();
    const uploader = new Uploader({ outputOpen, outputParts: never, outputComplete: never }, "", () => undefined);
    const upload = uploader.upload(member, { fd, sizeBytes: 1, key: "k" }, abandoned.signal);
    setTimeout(() => abandoned.abort(new Error("abandoned")), 50);
    const late = setTimeout(() => t.fail(`${where}: it still waits`), 5_000);
    await t.rejects(upload, { message: "abandoned" }, where);
    clearTimeout(late);
  }
});

t.test("a bucket that is full ends the upload at once: asking again would not make room", async (t) => {
  let asked = 0;
  const store = createServer((request, response) => {
    asked += 1;
    request.resume();
    request.once("end", () => response.writeHead(403).end("<Error><Code>QuotaExceeded</Code></Error>"));
  });
  await new Promise<void>((resolve) => store.listen(0, "127.0.0.1", resolve));
  t.teardown(() => store.close());
  const url = `http://127.0.0.1:${(store.address() as AddressInfo).port}/part`;
  const file = join(t.testdir({ model: "x" }), "model");
  const fd = openSync(file, "r");
  t.teardown(() => closeSync(fd));
  const outputOpen = async () => ({ ...opened, urls: [url] });
  const uploader = new Uploader({ outputOpen, outputParts: never, outputComplete: never }, "", () => undefined);
  await t.rejects(uploader.upload(member, { fd, sizeBytes: 1, key: "k" }, new AbortController().signal), { code: "bucket_full" });
  t.equal(asked, 1);
});
