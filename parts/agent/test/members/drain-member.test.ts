import { mkdirSync, readSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DesiredMember, MemberEvent } from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import { gapLine, LOG_HEAD_BYTES, LOG_TAIL_BYTES } from "../../src/decisions/log-bound.ts";
import { drainMember } from "../../src/members/drain-member.ts";
import type { MemberContext } from "../../src/members/member-context.ts";
import { MemberJournal } from "../../src/members/member-journal.ts";
import { freshState, MemberStore } from "../../src/members/member-record.ts";
import { Uploader } from "../../src/outputs/uploader.ts";
import { MemberArea } from "../../src/substrate/container-host/files/member-area.ts";
import { MemberFilesystem } from "../../src/substrate/container-host/files/member-filesystem.ts";
import { federationPayload, type TestRole } from "../helper/federation-payload.ts";

const MIB = 1024 * 1024;

/** An object store that takes six megabytes a second. */
async function slowStore(t: Test): Promise<string> {
  const takeSlowly = async (request: IncomingMessage): Promise<void> => {
    for await (const _ of request) await sleep(10);
  };
  const store = createServer((request, response) => {
    void takeSlowly(request).then(() => response.writeHead(200, { etag: '"e"' }).end());
  });
  await new Promise<void>((resolve) => store.listen(0, "127.0.0.1", resolve));
  t.teardown(() => store.close());
  return `http://127.0.0.1:${(store.address() as AddressInfo).port}/part`;
}

/** A server whose container has ended and left a model of this size. */
function drainingServer(
  t: Test,
  sizeBytes: number,
  uploader: Uploader,
): { member: MemberContext; disk: MemberFilesystem; told: () => MemberEvent[] } {
  const store = new MemberStore(t.testdir({}), { withRoom: (write) => write() });
  const ref = { member: "m", fence: { generation: 1, counter: 1 } };
  const desired = {
    ...ref,
    payload: federationPayload("job", { kind: "server" }),
  } as DesiredMember;
  const state = freshState(desired, "draining", "boot");
  state.model = { file: "/app/out/model.pt", name: "checkpoint.pt" };
  const journal = new MemberJournal(
    store,
    state,
    () => undefined,
    () => undefined,
  );
  const disk = new MemberFilesystem(store.directory(ref.member));
  mkdirSync(disk.path("out"), { recursive: true });
  writeFileSync(join(disk.path("out"), "model.pt"), Buffer.alloc(sizeBytes));
  const abandoned = new AbortController().signal;
  const enclosure = { area: new MemberArea(disk, () => 0) };
  const member = {
    tools: { uploader },
    journal,
    enclosure,
    ref,
    abandoned,
  } as unknown as MemberContext;
  return { member, disk, told: () => journal.state.pending.map(({ event }) => event) };
}

t.test(
  "while the bytes of one large output are on their way, that is told again and again",
  async (t) => {
    const url = await slowStore(t);
    const uploader = new Uploader(
      {
        outputOpen: async () => ({ upload: "u", partSizeBytes: 64 * MIB, urls: [url] }),
        outputParts: async () => ({ urls: [url] }),
        outputComplete: async () => ({ versionId: null }),
      },
      () => "",
      () => undefined,
    );
    const { member, told } = drainingServer(t, 48 * MIB, uploader);
    await drainMember(member);
    const done = told().flatMap((event) =>
      event.kind === "progress" && event.step === "outputs" ? [event.done] : [],
    );
    t.ok(done.length >= 3, `${done.length} times`);
    t.strictSame(
      done,
      done.toSorted((a, b) => a - b),
      "each time more",
    );
    t.ok(done.some((bytes) => bytes > 0 && bytes < 48 * MIB));
    t.same(told().at(-1), { kind: "outputs-uploaded", keys: ["model_out/checkpoint.pt"] });
  },
);

/** What a member in this role leaves in its folders, drained: the keys that it stored, and what it said. */
async function drained(
  t: Test,
  role: TestRole,
  files: Record<string, string>,
  {
    stop = null,
    returnsSiteFiles,
  }: { stop?: { reason: string; graceMs: number } | null; returnsSiteFiles?: boolean } = {},
) {
  const stored: string[] = [];
  const upload = async (_: unknown, output: { key: string }) => void stored.push(output.key);
  const { member, disk, told } = drainingServer(t, 1, { upload } as unknown as Uploader);
  const payload = federationPayload(
    "job",
    role,
    returnsSiteFiles === undefined ? {} : { returnsSiteFiles },
  );
  Object.assign(member.journal.state.desired, { payload });
  Object.assign(member.journal.state, { stop });
  Object.assign(member.tools, { log: { warn: () => undefined } });
  for (const [path, text] of Object.entries(files)) {
    const file = join(disk.mountPoint, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
  }
  mkdirSync(disk.path("out"), { recursive: true });
  symlinkSync("/etc/passwd", join(disk.mountPoint, "out", "link"));
  await drainMember(member);
  return { stored, told: told() };
}

t.test("a server's own files come back beside its model, and no link does", async (t) => {
  const { stored, told } = await drained(
    t,
    { kind: "server" },
    { "out/plots/loss.svg": "x", "out/not a key": "x", "events/metrics.jsonl": "{}" },
  );
  t.strictSame(stored, [
    "files_out/metrics.jsonl",
    "model_out/checkpoint.pt",
    "files_out/plots/loss.svg",
  ]);
  t.match(told, [
    { kind: "warning", site: "server", topic: "files-left-out", text: /1 whose names/ },
    { kind: "outputs-uploaded" },
  ]);
});

t.test(
  "a site's log comes back as one file of its name, and nothing else of the site",
  async (t) => {
    const { stored } = await drained(
      t,
      { kind: "client", index: 0, site: "site-1" },
      { "events/output.log": "said", "out/patients.csv": "x" },
    );
    t.strictSame(stored, ["m-1.1/00000001", "files_out/logs/site-1.log"]);
  },
);

t.test(
  "of a log without bound the beginning and the end are stored, and the middle is counted",
  async (t) => {
    const parts: { key: string; start: number; sizeBytes: number; text: string }[] = [];
    const { member, disk } = drainingServer(t, 1, {
      upload: async (
        _: unknown,
        {
          fd,
          key,
          start,
          sizeBytes,
        }: { fd: number; key: string; start: number; sizeBytes: number },
      ) => {
        const text = Buffer.alloc(Math.min(sizeBytes, 200));
        readSync(fd, text, 0, text.length, start);
        parts.push({ key, start, sizeBytes, text: text.toString() });
      },
    } as unknown as Uploader);
    Object.assign(member.journal.state, { stop: { reason: "user_cancelled", graceMs: 1 } });
    mkdirSync(disk.path("events"), { recursive: true });
    const log = join(disk.path("events"), "output.log");
    writeFileSync(log, "first");
    truncateSync(log, LOG_HEAD_BYTES + 300 * MIB + LOG_TAIL_BYTES);
    await drainMember(member);
    const logParts = parts.filter(({ key }) => key.startsWith("m-1.1/"));
    const gap = logParts.findIndex(({ text }) => text.includes("left out"));
    t.match(logParts[0], { key: "m-1.1/00000001", text: /^first/ });
    t.match(logParts[gap], { text: gapLine(300 * MIB) });
    const bytes = (some: typeof parts) => some.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    t.equal(bytes(logParts.slice(0, gap)), LOG_HEAD_BYTES);
    t.equal(bytes(logParts.slice(gap + 1)), LOG_TAIL_BYTES);
    t.equal(logParts[gap + 1]?.start, LOG_HEAD_BYTES + 300 * MIB);
  },
);

t.test("a site whose log can't be stored has done its part", async (t) => {
  const { member, disk, told } = drainingServer(t, 1, {
    upload: async () => Promise.reject(new Error("no")),
  } as unknown as Uploader);
  Object.assign(member.journal.state, { logOffset: 4 });
  Object.assign(member.journal.state.desired, {
    payload: federationPayload("job", { kind: "client", index: 0, site: "site-1" }),
  });
  Object.assign(member.tools, { log: { warn: () => undefined } });
  mkdirSync(disk.path("events"), { recursive: true });
  writeFileSync(join(disk.path("events"), "output.log"), "said");
  await drainMember(member);
  t.match(told(), [{ kind: "outputs-uploaded", keys: [] }]);
});

t.test(
  "a site's files come back where the project lets them out, also after the server's end, and not when the job is cancelled",
  async (t) => {
    const site = { kind: "client", index: 0, site: "site-1" } as const;
    const left = (reason: string | null) =>
      drained(
        t,
        site,
        { "out/table.csv": "x", "out/.hidden": "x" },
        { returnsSiteFiles: true, stop: reason === null ? null : { reason, graceMs: 1 } },
      );
    for (const reason of [null, "attempt_ended"]) {
      const { stored, told } = await left(reason);
      t.strictSame(stored, ["files_out/sites/site-1/table.csv"]);
      t.match(told, [{ kind: "warning", site: "site-1" }, { kind: "outputs-uploaded" }]);
    }
    t.strictSame((await left("user_cancelled")).stored, []);
  },
);
