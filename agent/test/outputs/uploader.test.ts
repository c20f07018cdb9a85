import { closeSync, openSync, writeFileSync } from "node:fs";
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
    const uploader = new Uploader({ outputOpen, outputParts: never, outputComplete: never }, "");
    const upload = uploader.upload(member, { fd, sizeBytes: 1, key: "k" }, abandoned.signal);
    setTimeout(() => abandoned.abort(new Error("abandoned")), 50);
    const late = setTimeout(() => t.fail(`${where}: it still waits`), 5_000);
    await t.rejects(upload, { message: "abandoned" }, where);
    clearTimeout(late);
  }
});
