import { setTimeout as sleep } from "node:timers/promises";
import { LEAST_COST_BYTES } from "@resontech/contracts/storage-cost";
import t from "tap";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { RunningFront } from "./helper/running-front.ts";
import type { FrontUser } from "@resontech/coordinator/testing/front-world";
import { headText, RawConnection, signedHeaders, statusOf } from "./helper/signed.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
const KIB = 1024;
const QUOTA_EXCEEDED = { code: "QuotaExceeded", status: 403 };

t.test("32 writers fill a bucket to the object and not beyond", async (t) => {
  const quota = 500 * KIB;
  const user = await front.addUser(quota);
  const store = front.storeOf(user);
  const sizes = Array.from({ length: 160 }, (_, at) => ((at * 7919) % 3000) + LEAST_COST_BYTES);
  const left = [...sizes.entries()];
  const written: number[] = [];
  const refused: number[] = [];
  const write = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [at, size] = next;
      try {
        await store.put(user.bucket, `many/${at}`, Buffer.alloc(size), "text/plain");
        written.push(size);
      } catch (error) {
        t.match(error, QUOTA_EXCEEDED);
        refused.push(size);
      }
    }
  };
  await Promise.all(Array.from({ length: 32 }, write));
  const sum = written.reduce((a, b) => a + b, 0);
  t.equal((await front.store.usage(user.bucket)).usedBytes, sum);
  t.ok(sum <= quota, `${sum} of ${quota}`);
  t.ok(refused.length > 0 && written.length > 0);
  // Nothing that would have fitted was left out: what is free now is less than the least that was refused … of those after the last write.
  const rest = quota - sum;
  if (rest >= LEAST_COST_BYTES) {
    await store.put(user.bucket, "rest", Buffer.alloc(rest), "text/plain");
    t.equal((await front.store.usage(user.bucket)).usedBytes, quota);
  }
  await t.rejects(store.put(user.bucket, "one", "1", "text/plain"), QUOTA_EXCEEDED);
});

t.test("32 writers of equal objects store exactly as many as fit", async (t) => {
  const user = await front.addUser(20 * 5000);
  const store = front.storeOf(user);
  const ends = await Promise.allSettled(
    Array.from({ length: 32 }, (_, at) =>
      store.put(user.bucket, `o/${at}`, Buffer.alloc(5000), "text/plain"),
    ),
  );
  t.equal(ends.filter(({ status }) => status === "fulfilled").length, 20);
  t.equal((await front.store.usage(user.bucket)).usedBytes, 100_000);
});

t.test(
  "versions, parts and copies count, a part once for its number, and what is deleted by version comes free",
  async (t) => {
    const user = await front.addUser(38 * KIB);
    const store = front.storeOf(user);
    const first = await store.put(user.bucket, "a", Buffer.alloc(10 * KIB), "text/plain");
    await store.put(user.bucket, "a", Buffer.alloc(10 * KIB), "text/plain");
    await store.remove(user.bucket, "a");
    await t.rejects(
      store.put(user.bucket, "b", Buffer.alloc(15 * KIB), "text/plain"),
      QUOTA_EXCEEDED,
      "both versions count, and the marker",
    );
    const upload = await store.createUpload(user.bucket, "m", "text/plain");
    const url = await store.presignPart(user.bucket, "m", upload, 1, 60);
    const part = (bytes: number) =>
      fetchWithCa(front.caPem, url, { method: "PUT", body: Buffer.alloc(bytes) });
    for (const bytes of [6 * KIB, 10 * KIB, 7 * KIB])
      t.equal((await part(bytes)).status, 200, "a part replaces the one before");
    t.equal((await part(11 * KIB)).status, 403);
    await t.rejects(
      store.put(user.bucket, "b", Buffer.alloc(4 * KIB), "text/plain"),
      QUOTA_EXCEEDED,
      "parts count",
    );
    t.ok(await store.abortUpload(user.bucket, "m", upload));
    const headers = { "x-amz-copy-source": `/${user.bucket}/a?versionId=${first.versionId}` };
    const copy = (key: string) =>
      front.transportOf(user.keys).send({ method: "PUT", path: [user.bucket, key], headers });
    await copy("copy");
    await t.rejects(copy("another"), QUOTA_EXCEEDED);
    // The user can't delete versions; the coordinator's own requests count like everybody's.
    await front.store.remove(user.bucket, "a", first.versionId);
    await t.rejects(
      front.store.put(user.bucket, "b", Buffer.alloc(15 * KIB), "text/plain"),
      QUOTA_EXCEEDED,
    );
    await front.store.put(user.bucket, "b", Buffer.alloc(14 * KIB), "text/plain");
    t.equal((await front.store.usage(user.bucket)).usedBytes, 38 * KIB);
  },
);

t.test(
  "what has no bytes costs as well: empty objects, versions, markers and open uploads fill a bucket",
  async (t) => {
    const fill = async (
      write: (user: FrontUser, at: number) => Promise<unknown>,
    ): Promise<number> => {
      const user = await front.addUser(10 * LEAST_COST_BYTES);
      for (let at = 0; at < 30; at++)
        try {
          await write(user, at);
        } catch (error) {
          t.match(error, QUOTA_EXCEEDED);
          t.ok((await front.store.usage(user.bucket)).usedBytes <= 10 * LEAST_COST_BYTES);
          return at;
        }
      return 30;
    };
    const headers = { "x-amz-meta-long": "x".repeat(1500) };
    t.equal(
      await fill((user, at) =>
        front.storeOf(user).put(user.bucket, `empty/${at}`, "", "text/plain"),
      ),
      10,
    );
    t.equal(
      await fill((user) => front.storeOf(user).put(user.bucket, "versions", "", "text/plain")),
      10,
    );
    t.equal(
      await fill((user, at) =>
        front.storeOf(user).createUpload(user.bucket, `open/${at}`, "text/plain"),
      ),
      10,
    );
    t.equal(
      await fill((user, at) =>
        front.storeOf(user).put(user.bucket, `folders/${at}/`, "", "text/plain"),
      ),
      10,
    );
    t.equal(
      await fill((user, at) =>
        front
          .transportOf(user.keys)
          .send({ method: "PUT", path: [user.bucket, `m/${at}`], headers, body: "" }),
      ),
      10,
    );
    const markers = await fill(async (user, at) => {
      await front.storeOf(user).put(user.bucket, `gone/${at}`, "", "text/plain");
      await front.storeOf(user).remove(user.bucket, `gone/${at}`);
    });
    t.equal(markers, 5, "a deletion is never refused, and its marker counts");
    const full = await front.addUser(LEAST_COST_BYTES);
    await front.storeOf(full).put(full.bucket, "a", "x", "text/plain");
    const uploadId = await front.store.createUpload(full.bucket, "of-a-job", "text/plain");
    const part = await front.store.presignPart(full.bucket, "of-a-job", uploadId, 1, 60);
    const refused = await fetchWithCa(front.caPem, part, { method: "PUT", body: "x" });
    t.match(
      await refused.text(),
      "<Code>QuotaExceeded</Code>",
      "a node that stores for a job learns it from its first part",
    );
  },
);

t.test(
  "a quota that the operator changes holds at the door within seconds, up and down",
  async (t) => {
    const user = await front.addUser(LEAST_COST_BYTES);
    const store = front.storeOf(user);
    const put = (key: string): Promise<unknown> => store.put(user.bucket, key, "x", "text/plain");
    await put("first");
    await t.rejects(put("second"), QUOTA_EXCEEDED);
    front.coordinator.setQuota(user, 100 * LEAST_COST_BYTES);
    const until = async (isSo: () => Promise<boolean>): Promise<void> => {
      for (const deadline = Date.now() + 120_000; !(await isSo()); await sleep(200))
        if (Date.now() > deadline) throw new Error("not in time");
    };
    const takes = (key: string): Promise<boolean> =>
      put(key).then(
        () => true,
        () => false,
      );
    await until(() => takes("second"));
    front.coordinator.setQuota(user, LEAST_COST_BYTES);
    await until(async () => !(await takes("third")));
    t.equal((await store.stat(user.bucket, "first"))?.sizeBytes, 1, "what is there stays");
  },
);

t.test(
  "no object hides from the count behind the engine's own folder name, at no depth",
  async (t) => {
    const user = await front.addUser(5000);
    const own = front.transportOf(user.keys);
    const put = (key: string, headers = {}, body = "x".repeat(800)) =>
      own.send({ method: "PUT", path: [user.bucket, ...key.split("/")], headers, body });
    const source = { "x-amz-copy-source": `/${user.bucket}/a/z` };
    for (const key of [".sgwtmp", ".sgwtmp/b", "a/.sgwtmp", "a/.sgwtmp/b", "a/b/.sgwtmp/c"]) {
      await t.rejects(put(key), { code: "InvalidURI", status: 400 }, key);
      await t.rejects(put(key, source, ""), { code: "InvalidURI", status: 400 }, key);
    }
    await put("a/z");
    await front.stopFront("SIGKILL");
    await front.startFront();
    await t.rejects(put("a/y"), QUOTA_EXCEEDED);
  },
);

t.test("a copy that the engine would read otherwise than the count is refused", async (t) => {
  const range = { "x-amz-copy-source-range": "bytes=0-0" };
  for (const [what, key, isPart, signed, unsigned] of [
    ["a range of a whole object", "%C3%BC", false, range, {}],
    [
      "a range that goes no further",
      "%C3%BC",
      true,
      {},
      { ...range, connection: "x-amz-copy-source-range" },
    ],
    // Sent as UTF-8, as the signature has it.
    ["a source that is not escaped", "ü", false, {}, {}],
  ] as const) {
    const user = await front.addUser(20_000);
    const store = front.storeOf(user);
    await store.put(user.bucket, "ü", Buffer.alloc(600), "text/plain");
    // What the bytes of `ü` are in Latin-1.
    await store.put(user.bucket, "\u00c3\u00bc", Buffer.alloc(1), "text/plain");
    const part = isPart
      ? `?uploadId=${await store.createUpload(user.bucket, "copy", "text/plain")}&partNumber=1`
      : "";
    const target = `/${user.bucket}/copy${part}`;
    const source = { "x-amz-copy-source": `/${user.bucket}/${key}` };
    const headers = await signedHeaders(front, user.keys, "PUT", target, { ...source, ...signed });
    const raw = new RawConnection(front);
    raw.socket.write(headText(`PUT ${target}`, { ...headers, ...unsigned, "content-length": "0" }));
    t.match(
      await raw.until(/<\/\w+>\s*$/),
      /^HTTP\/1\.1 400[\s\S]*<Code>InvalidArgument<\/Code>/,
      what,
    );
    t.equal(
      (await front.store.usage(user.bucket)).usedBytes,
      (isPart ? 3 : 2) * LEAST_COST_BYTES,
      what,
    );
    raw.close();
  }
});

t.test("refused before the first byte, with Expect and without", async (t) => {
  const user = await front.addUser(5000);
  const path = `/${user.bucket}/big`;
  const headers = {
    ...(await signedHeaders(front, user.keys, "PUT", path)),
    "content-length": "5000000",
  };
  const patient = new RawConnection(front);
  patient.socket.write(headText(`PUT ${path}`, { ...headers, expect: "100-continue" }));
  const answer = await patient.until(/<\/Error>/);
  t.match(answer, /^HTTP\/1\.1 403[\s\S]*<Code>QuotaExceeded<\/Code>/);
  t.notMatch(answer, /100 Continue/);
  const hasty = new RawConnection(front);
  hasty.socket.write(headText(`PUT ${path}`, headers));
  t.match(
    await hasty.until(/<\/Error>/),
    /<Code>QuotaExceeded<\/Code>/,
    "answered without a byte of the body",
  );
  const welcome = new RawConnection(front);
  const small = {
    ...(await signedHeaders(front, user.keys, "PUT", path)),
    "content-length": "5",
    expect: "100-continue",
  };
  welcome.socket.write(headText(`PUT ${path}`, small));
  t.match(await welcome.until(/100 Continue\r\n\r\n/), /^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  welcome.socket.write("12345");
  t.equal(statusOf(await welcome.until(/HTTP\/1\.1 200/)), 200);
  for (const raw of [patient, hasty, welcome]) raw.close();
  t.match(
    (await front.leaves()).findLast(({ type }) => type === "data.object.refused"),
    {
      actor: { sub: "unproven", kind: "anonymous" },
      outcome: { code: "QuotaExceeded", status: 403 },
      detail: {
        bucket: user.userId,
        claimed: user.userId,
        status: 403,
        code: "QuotaExceeded",
        bytes: 5_000_000,
      },
      decision: { effect: "deny", policy_ids: ["bucket-quota"] },
    },
  );
});

t.test(
  "who can't be let in holds no room, learns no numbers and nothing of what could be copied",
  async (t) => {
    const [owner, other] = [await front.addUser(10_096), await front.addUser(10_000)];
    await front.storeOf(owner).put(owner.bucket, "secret", Buffer.alloc(6_000), "text/plain");
    const path = `/${owner.bucket}/x`;
    const stranger = { accessKeyId: "RTSTRANGER", secretAccessKey: "x" };
    const answerTo = async (target: string, headers: Record<string, string>): Promise<string> => {
      const raw = new RawConnection(front);
      raw.socket.write(headText(`PUT ${target}`, { "content-length": "0", ...headers }));
      const answer = await raw.until(/<\/Error>/);
      raw.close();
      return /<Code>.*<\/Message>/.exec(answer)?.[0] ?? answer;
    };
    for (const [who, headers, code] of [
      ["a stranger", await signedHeaders(front, stranger, "PUT", path), "InvalidAccessKeyId"],
      ["nobody", { host: "localhost" }, "AccessDenied"],
      ["another user", await signedHeaders(front, other.keys, "PUT", path), "AccessDenied"],
    ] as const)
      for (const length of ["3000", "5000000"])
        t.match(
          await answerTo(path, { ...headers, "content-length": length }),
          `<Code>${code}<`,
          `${who} with ${length} bytes`,
        );
    const completion = `${path}?uploadId=unknown`;
    const completing = new RawConnection(front);
    const ofStranger = await signedHeaders(front, stranger, "POST", completion);
    completing.socket.write(
      headText(`POST ${completion}`, { ...ofStranger, "content-length": "9" }),
    );
    t.match(await completing.until(/<\/Error>/), "<Code>InvalidAccessKeyId<");
    completing.close();
    const forged = { ...front.admin, secretAccessKey: "wrong" };
    for (const keys of [other.keys, forged]) {
      const copies = ["secret", "missing"].map(async (key) => {
        const target = `/${other.bucket}/copy`;
        const source = { "x-amz-copy-source": `/${owner.bucket}/${key}` };
        return await answerTo(target, await signedHeaders(front, keys, "PUT", target, source));
      });
      const [secret, missing] = await Promise.all(copies);
      t.match(secret, "<Code>AccessDenied<");
      t.equal(secret, missing);
    }
    const claimed = await answerTo(path, {
      ...(await signedHeaders(front, forged, "PUT", path)),
      "content-length": "5000000",
    });
    t.match(claimed, "<Code>QuotaExceeded<");
    t.notMatch(claimed, /\d{4}/);
    const slow = new RawConnection(front);
    slow.socket.write(
      headText(`PUT ${path}`, {
        ...(await signedHeaders(front, stranger, "PUT", path)),
        "content-length": "4000",
      }),
    );
    await slow.until(/HTTP/);
    await front.storeOf(owner).put(owner.bucket, "rest", Buffer.alloc(4_000), "text/plain");
    slow.close();
  },
);

t.test("a body that hardly begins holds its room for a short while", async (t) => {
  const user = await front.addUser(10_000);
  const path = `/${user.bucket}/slow`;
  const forged = { ...user.keys, secretAccessKey: "wrong" };
  const raw = new RawConnection(front);
  raw.socket.write(
    headText(`PUT ${path}`, {
      ...(await signedHeaders(front, forged, "PUT", path)),
      "content-length": "9000",
    }),
  );
  const trickle = setInterval(() => raw.socket.write("x"), 1_000);
  const put = () => front.storeOf(user).put(user.bucket, "a", Buffer.alloc(2_000), "text/plain");
  while (!raw.socket.authorized) await sleep(10);
  // Each takes a way that is far longer than that of a head that was sent before.
  for (let times = 0; times < 3; times += 1) await front.storeOf(user).list(user.bucket, "", 1);
  await t.rejects(put(), QUOTA_EXCEEDED);
  await raw.until(/$never/);
  clearInterval(trickle);
  t.equal(raw.isClosed, true);
  await put();
});

t.test(
  "counted anew after kill -9 of front, engine and coordinator, in the middle of writes",
  async (t) => {
    const quota = 400 * KIB;
    const user = await front.addUser(quota);
    const store = front.storeOf(user);
    const kills = [
      async () => {
        await front.stopFront("SIGKILL");
        await front.startFront();
      },
      async () => {
        await front.stopEngine("SIGKILL");
        await front.startEngine();
      },
      async () => {
        await front.coordinator.stop();
        await front.coordinator.start();
      },
    ];
    for (const [round, kill] of kills.entries()) {
      const writing = Array.from({ length: 16 }, async (_, at) => {
        await sleep(at * 5);
        await store
          .put(user.bucket, `k/${round}-${at}`, Buffer.alloc(1 * KIB), "text/plain")
          .catch(() => null);
      });
      await sleep(40);
      await kill();
      await Promise.all(writing);
    }
    const { usedBytes } = await front.store.usage(user.bucket);
    t.ok(usedBytes <= quota && usedBytes > 0, `${usedBytes}`);
    await t.rejects(
      store.put(user.bucket, "over", Buffer.alloc(quota - usedBytes + 1), "text/plain"),
      QUOTA_EXCEEDED,
    );
    await store.put(user.bucket, "fits", Buffer.alloc(quota - usedBytes), "text/plain");
    t.equal((await front.store.usage(user.bucket)).usedBytes, quota);
  },
);

t.test(
  "a bucket of nobody takes nothing, and without the coordinator none that is not counted does",
  async (t) => {
    await front.store.ensureBucket("stray-bucket");
    await t.rejects(front.store.put("stray-bucket", "a", "x", "text/plain"), {
      code: "NoSuchBucket",
      status: 404,
    });
    const [known, fresh] = [await front.addUser(), await front.addUser()];
    await front.storeOf(known).put(known.bucket, "a", "x", "text/plain");
    await front.coordinator.stop();
    await front.storeOf(known).put(known.bucket, "b", "x", "text/plain");
    await t.rejects(front.storeOf(fresh).put(fresh.bucket, "a", "x", "text/plain"), {
      code: "ServiceUnavailable",
      status: 503,
    });
    await front.coordinator.start();
    await front.storeOf(fresh).put(fresh.bucket, "a", "x", "text/plain");
  },
);
