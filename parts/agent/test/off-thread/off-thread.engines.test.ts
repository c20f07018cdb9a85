import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getPriority } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import t from "tap";
import { MemberFailure } from "../../src/member-failure.ts";
import { offThread } from "../../src/off-thread/off-thread.ts";
import { startObjectServer } from "../helper/object-server.ts";
import { zipOf } from "../helper/zip.ts";

const MIB = 1024 * 1024;
const never = new AbortController().signal;
const inputOf = (body: Uint8Array) => ({ target: "input", sizeBytes: body.length, etag: "" });

t.test(
  "a shard and a file are fetched on another thread, by URLs that this one gives",
  async (t) => {
    const dir = t.testdir({ out: {} });
    const zip = zipOf([{ name: "a/b.csv", body: "1,2\n" }]);
    await using server = await startObjectServer(zip);
    const asked: boolean[] = [];
    const url = async (isOutdated: boolean): Promise<string> => {
      asked.push(isOutdated);
      return await server.source.url(isOutdated);
    };
    let bytes = 0;
    const onProgress = (progress: { bytes: number }): void => void (bytes += progress.bytes);
    const shard = {
      kind: "shard",
      input: inputOf(zip),
      folder: join(dir, "out"),
      maxBytes: MIB,
      ca: "",
    } as const;
    await offThread(shard, { url, onProgress }, never);
    t.equal(readFileSync(join(dir, "out/a/b.csv"), "utf8"), "1,2\n");
    t.equal(bytes, zip.length, "all of it is told");
    await offThread(
      { kind: "file", input: inputOf(zip), file: join(dir, "file"), ca: "" },
      { url },
      never,
    );
    t.ok(readFileSync(join(dir, "file")).equals(zip));
    t.ok(asked.length >= 3 && !asked.includes(true));
  },
);

t.test("an outdated URL is asked for anew", async (t) => {
  const body = Buffer.from("model");
  await using good = await startObjectServer(body);
  const refuses = createServer((_, response) => response.writeHead(403).end());
  await new Promise<void>((resolve) => refuses.listen(0, "127.0.0.1", resolve));
  t.teardown(() => refuses.close());
  const old = `http://127.0.0.1:${(refuses.address() as AddressInfo).port}/`;
  const url = async (isOutdated: boolean): Promise<string> =>
    isOutdated ? await good.source.url(true) : old;
  const file = join(t.testdir(), "file");
  await offThread({ kind: "file", input: inputOf(body), file, ca: "" }, { url }, never);
  t.equal(readFileSync(file, "utf8"), "model");
});

t.test("what fails there fails here as the same kind", async (t) => {
  const dir = t.testdir({ out: {} });
  const zip = zipOf([{ name: "../a", body: "1" }]);
  await using server = await startObjectServer(zip);
  const { url } = server.source;
  const shard = {
    kind: "shard",
    input: inputOf(zip),
    folder: join(dir, "out"),
    maxBytes: MIB,
    ca: "",
  } as const;
  const refused = await offThread(shard, { url }, never).catch((error: unknown) => error);
  t.ok(refused instanceof MemberFailure);
  t.match(refused, { reason: "shard_invalid", message: /"..\/a" is no usable path/ });
  const file = { kind: "file", input: inputOf(zip), file: join(dir, "none/file"), ca: "" } as const;
  await t.rejects(offThread(file, { url }, never), { code: "ENOENT", syscall: "open" });
  const noUrl = async (): Promise<string> => {
    throw new MemberFailure("staging_failed", "there is no URL");
  };
  await t.rejects(offThread({ ...file, file: join(dir, "file") }, { url: noUrl }, never), {
    message: "there is no URL",
  });
});

t.test("what is given up ends with the reason, and lets go first", async (t) => {
  const folder = join(t.testdir({ out: {} }), "out");
  // It stands in the middle of its only file.
  const zip = zipOf([{ name: "a", body: Buffer.alloc(2 * MIB, 7), isStored: true }]);
  const server = createServer((request, response) => {
    const [, from = "0"] = /bytes=(\d+)-/.exec(request.headers.range ?? "") ?? [];
    response.writeHead(Number(from) > 0 ? 206 : 200, {
      "content-length": zip.length - Number(from),
    });
    if (Number(from) > 0) response.end(zip.subarray(Number(from)));
    else response.write(zip.subarray(0, MIB));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const stopped = new AbortController();
  const url = async (): Promise<string> =>
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const onProgress = (): void => stopped.abort(new Error("stopped"));
  const shard = { kind: "shard", input: inputOf(zip), folder, maxBytes: 4 * MIB, ca: "" } as const;
  await t.rejects(offThread(shard, { url, onProgress }, stopped.signal), { message: "stopped" });
  t.ok(existsSync(folder));
});

t.test("the thread comes after the one that keeps the lease", async (t) => {
  const file = join(t.testdir({ file: "x" }), "file");
  const fd = openSync(file, "r");
  t.teardown(() => closeSync(fd));
  await offThread({ kind: "digest", range: { fd, start: 0, length: 1 } }, {}, never);
  const main = getPriority(process.pid);
  const behind = readdirSync("/proc/self/task").filter(
    (thread) => getPriority(Number(thread)) === main + 5,
  );
  t.ok(behind.length > 0);
});

t.test("while a large output is read for its digest this thread has nothing to do", async (t) => {
  const file = join(t.testdir(), "model");
  const content = Buffer.alloc(256 * MIB, "weights ");
  writeFileSync(file, content);
  const wanted = createHash("sha256").update(content).digest("hex");
  const fd = openSync(file, "r");
  t.teardown(() => closeSync(fd));
  const range = { fd, start: 0, length: content.length };
  // Started before: what a thread's own start takes is not what is asked.
  await offThread({ kind: "digest", range: { ...range, length: 1 } }, {}, never);
  const before = performance.eventLoopUtilization();
  t.equal(
    await offThread({ kind: "digest", range, copy: join(t.testdirName, "copy") }, {}, never),
    wanted,
  );
  const { utilization } = performance.eventLoopUtilization(before);
  t.ok(readFileSync(join(t.testdirName, "copy")).equals(content));
  t.ok(utilization < 0.3, `busy for ${utilization} of the time`);
});
