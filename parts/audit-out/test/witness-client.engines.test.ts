import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import t, { type Test } from "tap";
import { WitnessClient, type WitnessClientOptions } from "../src/witness/witness-client.ts";
import { parseCheckpoint } from "@resontech/audit/format/note/checkpoint";
import { verifierKey } from "@resontech/audit/format/note/note-key";
import { Link } from "@resontech/audit/producer/link";
import { connectProducer } from "@resontech/audit/producer";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { signedCheckpoint } from "@resontech/audit/testing/signed-checkpoint";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { newSigners, TestLog } from "@resontech/witness/testing/test-log";
import { WitnessFixture } from "@resontech/witness/testing/witness-fixture";

const silent = pino({ level: "silent" });

/** A log, and what was said in it. */
function logOf(): { log: typeof silent; lines: string[] } {
  const lines: string[] = [];
  return { log: pino({}, { write: (line: string) => void lines.push(line) }), lines };
}

async function until(what: () => boolean): Promise<boolean> {
  for (const deadline = performance.now() + 120_000; !what() && performance.now() < deadline; )
    await sleep(50);
  return what();
}

/** A real auditd with a real witness in its policy, and the client between them. */
async function witnessedLog(t: Test, urlOf = (url: string) => url) {
  const root = temporaryFolder(t);
  const auditd = new AuditdFixture(root, {
    producers: ["appliance", "audit-out"].map((name) => ({
      name,
      family: name,
      socket: join(root, "run", `${name}.sock`),
      gid: null,
    })),
    learnMs: 0,
    checkpointMs: 10,
  });
  auditd.init();
  const firstPolicy = join(root, "first.policy");
  writeFileSync(firstPolicy, readFileSync(auditd.config.policyFile));
  const witness = new WitnessFixture(t);
  const lines = witness.init();
  witness.run("admit", "--first", firstPolicy);
  await witness.serve();
  const policy = readFileSync(firstPolicy, "utf8").replace(
    "quorum none\n",
    `${lines.replaceAll(/^(witness .*)$/gm, `$1 ${urlOf(witness.url)}`)}quorum w1-both\n`,
  );
  mkdirSync(join(root, "out"));
  writeFileSync(join(root, "policy"), policy);
  renameSync(join(root, "policy"), auditd.config.policyFile);
  t.teardown(() => auditd.stop("SIGKILL"));
  await auditd.start();
  const producer = await connectProducer({ socketPath: auditd.socket("appliance"), boot: "b-1" });
  const link = new Link({
    ...{ socketPath: auditd.socket("audit-out"), boot: "o-1", firstPseq: 1 },
    ...{ highestAck: undefined, seen: undefined, signal: undefined },
  });
  await link.welcomed;
  const options = {
    auditDir: auditd.config.auditDir,
    policyFile: auditd.config.policyFile,
    seenFile: join(root, "out", "seen.json"),
    caFile: null,
    handBack: (origin: string, size: number, lines: string) =>
      link.query({ verb: "cosign", origin, size, lines }),
    log: silent,
  } satisfies WitnessClientOptions;
  const client = await WitnessClient.open(options);
  t.teardown(() => Promise.all([client[Symbol.asyncDispose](), producer.close(), link.close(0)]));
  const file = join(auditd.logDir, "checkpoint.witnessed");
  return {
    auditd,
    witness,
    producer,
    client,
    options,
    link,
    seenFile: join(root, "out", "seen.json"),
    witnessed: () => (existsSync(file) ? parseCheckpoint(readFileSync(file, "utf8"))! : null),
  };
}

t.test(
  "each new checkpoint is cosigned by the witness, and its two keys are the quorum",
  async (t) => {
    const { auditd, witness, producer, client, link, seenFile, witnessed } = await witnessedLog(t);
    t.same(await client.learn(5_000), [], "nothing is cosigned yet");
    client.follow();
    for (let round = 0; round < 3; round++) {
      const acks = await Promise.all(Array.from({ length: 300 }, () => producer.fact(keyList())));
      const startedMs = performance.now();
      const reply = await link.query({ verb: "witnessed", index: acks.at(-1)!.index });
      t.match(
        reply,
        { witnessed: true, needsWitness: true },
        `round ${round}: ${Math.round(performance.now() - startedMs)} ms`,
      );
    }
    t.equal(witnessed()!.signatures.length, 4);
    const origin = `box.audit.acme/${auditd.currentSlug}`;
    t.match(await client.learn(5_000), [{ origin, size: witness.logs()[0]!.size, by: "witness" }]);
    t.same(Object.values(JSON.parse(readFileSync(seenFile, "utf8"))), [
      { [origin]: witness.logs()[0]!.size },
    ]);
  },
);

t.test(
  "a witness that was away, and one whose size is not remembered, are taken up by their own answer",
  async (t) => {
    const { witness, producer, client, options, seenFile, witnessed } = await witnessedLog(t);
    await producer.covered((await producer.fact(keyList())).index);
    client.follow();
    t.ok(await until(() => witnessed() !== null));
    await client[Symbol.asyncDispose]();
    const { size } = witnessed()!;
    await producer.covered(
      (await Promise.all(Array.from({ length: 700 }, () => producer.fact(keyList())))).at(-1)!
        .index,
    );
    writeFileSync(seenFile, "damaged");
    await witness.stop();
    const { log, lines } = logOf();
    await using again = await WitnessClient.open({ ...options, log });
    again.follow();
    t.ok(await until(() => lines.some((line) => line.includes("not cosigned"))), "it is asked");
    t.equal(witnessed()!.size, size, "nobody answers");
    await witness.serve("--listen", new URL(witness.url).host);
    t.ok(
      await until(() => witnessed()!.size > size),
      "it goes on from the size that the witness says",
    );
  },
);

/** Stands before a witness: shows what it was sent, and may answer in its place. */
async function relay(t: Test, answered: (body: string) => string | null) {
  let target = "";
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const conflict = answered(body);
      if (conflict !== null) return response.writeHead(409).end(conflict);
      const answer = await fetch(
        `${target}${request.url}`,
        request.method === "POST" ? { method: "POST", body } : {},
      );
      return response.writeHead(answer.status).end(await answer.text());
      // Whoever is behind it hung up, as at the end of a test.
    })().catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (url: string) => {
    target = url;
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
}

t.test(
  "an unsigned claim to have seen more than there is is forgotten at once, and one that an earlier life believed too",
  async (t) => {
    let lies = 2;
    const urlOf = await relay(t, (body) =>
      body !== "" && lies-- > 0 ? "9007199254740991\n" : null,
    );
    const { producer, client, options, seenFile, witnessed } = await witnessedLog(t, urlOf);
    await producer.covered((await producer.fact(keyList())).index);
    client.follow();
    t.ok(await until(() => witnessed() !== null), "cosigned once the truth is told");
    await client[Symbol.asyncDispose]();
    const seen = readFileSync(seenFile, "utf8");
    t.notMatch(seen, "9007199254740991");
    const { size } = witnessed()!;
    writeFileSync(seenFile, seen.replace(/:[0-9]+\}/, ":9007199254740991}"));
    await producer.covered((await producer.fact(keyList())).index);
    await using again = await WitnessClient.open(options);
    again.follow();
    t.ok(await until(() => witnessed()!.size > size), "cosigned on");
  },
);

t.test(
  "a witness is shown the log's own signatures alone, however many have cosigned",
  async (t) => {
    const shown: string[] = [];
    const urlOf = await relay(t, (body) => {
      shown.push(body);
      return null;
    });
    const { producer, client, options, witnessed } = await witnessedLog(t, urlOf);
    await producer.covered((await producer.fact(keyList())).index);
    client.follow();
    t.ok(await until(() => witnessed() !== null));
    await client[Symbol.asyncDispose]();
    const before = shown.length;
    await using again = await WitnessClient.open(options);
    again.follow();
    t.ok(await until(() => shown.length > before));
    const { signatures, origin } = parseCheckpoint(
      shown.at(-1)!.slice(shown.at(-1)!.indexOf("\n\n") + 2),
    )!;
    t.same(
      signatures.map(({ name }) => name),
      [origin, origin],
    );
  },
);

t.test("answers that are too long, wrong or never come hold up nobody", async (t) => {
  const seen: string[] = [];
  const order: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    if (seen.length > 3) response.once("close", () => order.push("broken off"));
    if (seen.length === 1) response.end("x".repeat(100_000));
    else if (seen.length === 2) response.writeHead(409).end("not a size\n");
    else if (seen.length === 3) response.writeHead(409).end("99999999\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { producer, client, witnessed } = await witnessedLog(
    t,
    () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  );
  client.follow();
  t.ok(await until(() => seen.length >= 3), "tried again after a pause");
  await producer.covered((await producer.fact(keyList())).index);
  t.equal(witnessed(), null);
  t.ok(await until(() => seen.length >= 4), "and once more, which nobody answers");
  t.same(order, []);
  await client[Symbol.asyncDispose]();
  t.ok(await until(() => order.length === 1), "the question is broken off, and not waited for");
  t.ok(seen.every((line) => line === "POST /add-checkpoint"));
});

t.test(
  "witnesses are asked for shards that the folder and the policy don't name any more",
  async (t) => {
    const [old, young, other] = [
      await TestLog.make(t),
      await TestLog.make(t, "box.audit.acme/2027"),
      await TestLog.make(t, "box.audit.acme/2027-2"),
    ];
    const witness = new WitnessFixture(t);
    const lines = witness.init();
    const root = temporaryFolder(t);
    const policyFile = join(root, "policy");
    const logLines = (log: TestLog) =>
      readFileSync(log.policyFile, "utf8").replace("quorum none\n", "");
    writeFileSync(policyFile, `${[old, young, other].map(logLines).join("")}quorum none\n`);
    witness.run("admit", "--first", policyFile);
    await witness.serve();
    for (const log of [old, young, other])
      t.equal((await witness.post(await log.request(0, 300))).status, 200);
    mkdirSync(join(root, "audit", "2026"), { recursive: true });
    writeFileSync(join(root, "audit", "2026", "checkpoint"), await old.note(200));
    const keys = lines.match(/[^\s]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+/g)!;
    writeFileSync(
      policyFile,
      `${logLines(old)}${keys.map((key, at) => `witness w${at} ${key} ${witness.url}\n`).join("")}quorum none\n`,
    );
    await using client = await WitnessClient.open({
      ...{
        auditDir: join(root, "audit"),
        policyFile,
        seenFile: join(root, "witnesses.json"),
        caFile: null,
        log: silent,
      },
      handBack: () => Promise.resolve(),
    });
    const seen = await client.learn(5_000);
    t.same(
      seen.map(({ origin, size }) => `${origin} ${size}`).sort(),
      [old, young, other].map(({ origin }) => `${origin} 300`),
    );
  },
);

/** A policy with these witnesses, and the folder of a log of which nothing is known but one checkpoint. */
async function askedOf(t: Test, log: TestLog, witnesses: [key: string, url: string][]) {
  const root = temporaryFolder(t);
  const policyFile = join(root, "policy");
  mkdirSync(join(root, "audit", "2026"), { recursive: true });
  writeFileSync(join(root, "audit", "2026", "checkpoint"), await log.note(200));
  const lines = witnesses.map(([key, url], at) => `witness w${at} ${key} ${url}\n`).join("");
  writeFileSync(
    policyFile,
    `${readFileSync(log.policyFile, "utf8").replace("quorum none\n", "")}${lines}quorum none\n`,
  );
  const client = await WitnessClient.open({
    ...{
      auditDir: join(root, "audit"),
      policyFile,
      seenFile: join(root, "witnesses.json"),
      caFile: null,
      log: silent,
    },
    handBack: () => Promise.resolve(),
  });
  t.teardown(() => client[Symbol.asyncDispose]());
  return client;
}

async function served(t: Test, answer: (url: string) => string | null): Promise<string> {
  const server = createServer((request, response) => {
    const body = answer(request.url ?? "");
    if (body !== null) response.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test("a witness that never answers takes no word from another one", async (t) => {
  const log = await TestLog.make(t);
  const witness = new WitnessFixture(t);
  const [key = ""] = witness.init(log).match(/[^\s]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+/g)!;
  await witness.serve();
  t.equal((await witness.post(await log.request(0, 300))).status, 200);
  const [, silentKey] = newSigners("silent.example/w").map(verifierKey);
  const client = await askedOf(t, log, [
    [key, witness.url],
    [silentKey!, await served(t, () => null)],
  ]);
  // Timers of one process end in the order of their times.
  let isLate = false;
  const timer = setTimeout(() => (isLate = true), 3_000);
  t.match(await client.learn(1_500), [{ origin: log.origin, size: 300, by: "witness" }]);
  clearTimeout(timer);
  t.equal(isLate, false, "in time");
});

t.test(
  "a witness that claims to have seen every shard there might be says no more than is heard",
  async (t) => {
    const log = await TestLog.make(t);
    const [, signer] = newSigners("lying.example/w");
    const names = Array.from({ length: 20 }, (_, year) => [
      2026 + year,
      ...Array.from({ length: 12 }, (_, n) => `${2026 + year}-${n + 2}`),
    ]);
    const origins = names.flat().map((slug) => `box.audit.acme/${slug}`);
    const byPath = new Map(
      origins.map((origin) => [
        `/${createHash("sha256").update(origin).digest("hex")}/checkpoint`,
        origin,
      ]),
    );
    let asked = 0;
    const url = await served(t, (path) => {
      asked += 1;
      const origin = byPath.get(path);
      return origin === undefined
        ? ""
        : signedCheckpoint({ origin, size: 1, root: Buffer.alloc(32, 1) }, [signer!]);
    });
    const seen = await (await askedOf(t, log, [[verifierKey(signer!), url]])).learn(5_000);
    t.equal(seen.length, 32);
    t.equal(seen[0]?.origin, log.origin, "what is nearest to what is here counts first");
    t.ok(asked < 100, `${asked} questions`);
  },
);
