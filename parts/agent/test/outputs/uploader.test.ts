import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { OutputOpenReply } from "@resontech/contracts/agent-protocol";
import t from "tap";
import { Uploader } from "../../src/outputs/uploader.ts";

const member = { member: "m", fence: { generation: 1, counter: 1 } };
const opened = { upload: "u", partSizeBytes: 1024, urls: [] } as OutputOpenReply;
const never = () => new Promise<never>(() => undefined);

t.test(
  "who is abandoned waits for no answer: its open file would keep the disk from being unmounted",
  async (t) => {
    const file = join(t.testdir({}), "output.log");
    writeFileSync(file, "x");
    const fd = openSync(file, "r");
    t.teardown(() => closeSync(fd));
    let abandoned = new AbortController();
    const abandon = (): Promise<never> => {
      setTimeout(() => abandoned.abort(new Error("abandoned")), 50);
      return never();
    };
    for (const [where, coordinator] of [
      ["open", { outputOpen: abandon, outputParts: never, outputComplete: never }],
      ["complete", { outputOpen: async () => opened, outputParts: never, outputComplete: abandon }],
    ] as const) {
      abandoned = new AbortController();
      const uploader = new Uploader(
        coordinator,
        () => "",
        () => undefined,
      );
      const upload = uploader.upload(member, { fd, sizeBytes: 1, key: "k" }, abandoned.signal);
      await t.rejects(upload, { message: "abandoned" }, where);
    }
  },
);

t.test(
  "who is abandoned while the file is read for its digest hears why, and the file stays the caller's",
  async (t) => {
    const file = join(t.testdir({}), "model");
    writeFileSync(file, Buffer.alloc(64 * 1024 * 1024));
    const fd = openSync(file, "r");
    t.teardown(() => closeSync(fd));
    const abandoned = new AbortController();
    const onBytes = (): void => abandoned.abort(new Error("abandoned"));
    const uploader = new Uploader(
      { outputOpen: never, outputParts: never, outputComplete: never },
      () => "",
      () => undefined,
    );
    const output = { fd, sizeBytes: 64 * 1024 * 1024, key: "k", onBytes };
    await t.rejects(uploader.upload(member, output, abandoned.signal), { message: "abandoned" });
    t.equal(fstatSync(fd).size, 64 * 1024 * 1024);
  },
);

t.test(
  "a connection that breaks while a part is on its way: the same bytes are sent again, from the same open file",
  async (t) => {
    const content = randomBytes(8 * 1024 * 1024);
    const file = join(t.testdir({}), "model");
    writeFileSync(file, content);
    const fd = openSync(file, "r");
    t.teardown(() => closeSync(fd));
    const stored: Buffer[] = [];
    let asked = 0;
    const store = createServer((request, response) => {
      asked += 1;
      const broken = asked === 1;
      request.on("data", (chunk: Buffer) =>
        broken ? request.socket.destroy() : stored.push(chunk),
      );
      request.once("end", () => response.writeHead(200, { etag: '"e"' }).end());
    });
    await new Promise<void>((resolve) => store.listen(0, "127.0.0.1", resolve));
    t.teardown(() => store.close());
    const url = `http://127.0.0.1:${(store.address() as AddressInfo).port}/part`;
    const coordinator = {
      outputOpen: async () => ({ ...opened, partSizeBytes: content.length, urls: [url] }),
      outputParts: never,
      outputComplete: async () => ({ versionId: null }),
    };
    const uploader = new Uploader(
      coordinator,
      () => "",
      () => undefined,
    );
    t.equal(
      await uploader.upload(
        member,
        { fd, sizeBytes: content.length, key: "k" },
        new AbortController().signal,
      ),
      "u",
    );
    t.ok(Buffer.concat(stored).equals(content));
    t.equal(asked, 2);
    t.equal(fstatSync(fd).size, content.length);
  },
);

t.test(
  "a bucket that is full ends the upload at once: asking again would not make room",
  async (t) => {
    let asked = 0;
    const store = createServer((request, response) => {
      asked += 1;
      request.resume();
      request.once("end", () =>
        response.writeHead(403).end("<Error><Code>QuotaExceeded</Code></Error>"),
      );
    });
    await new Promise<void>((resolve) => store.listen(0, "127.0.0.1", resolve));
    t.teardown(() => store.close());
    const url = `http://127.0.0.1:${(store.address() as AddressInfo).port}/part`;
    const file = join(t.testdir({ model: "x" }), "model");
    const fd = openSync(file, "r");
    t.teardown(() => closeSync(fd));
    const outputOpen = async () => ({ ...opened, urls: [url] });
    const uploader = new Uploader(
      { outputOpen, outputParts: never, outputComplete: never },
      () => "",
      () => undefined,
    );
    await t.rejects(
      uploader.upload(member, { fd, sizeBytes: 1, key: "k" }, new AbortController().signal),
      { code: "bucket_full" },
    );
    t.equal(asked, 1);
  },
);
