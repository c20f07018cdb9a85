/** What the supervisor measured before it started a part, beside what the vendor's releases hold. */
import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packBundle } from "@resontech/airgap/pack-bundle";
import { MAX_MEASURED_FILES } from "@resontech/contracts/audit-catalogue";
import fc from "fast-check";
import t from "tap";
import { canonicalJson } from "@resontech/audit/format/event/canonical-json";
import { Refused } from "../../src/input/note.ts";
import { renderText } from "../../src/report/output.ts";
import { plainLeaf } from "../../src/leaf/plain-leaf.ts";
import { nodePlatform } from "../../src/platform/platform-node.ts";
import { MAX_RELEASE_BYTES, Releases } from "../../src/completeness/releases.ts";
import { lacksCounterpart, type Report } from "../../src/verify.ts";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { shippedProgram } from "@resontech/house/shipped-program";
import { MadeLog } from "../helper/made-log.ts";
import { enveloped, type Held, madeRelease, releasesOf } from "../helper/made-release.ts";

const sha256 = (bytes: string | Buffer) => createHash("sha256").update(bytes).digest("hex");
const file = (path: string, content = path) => ({ path, sha256: sha256(content) });
const IMAGE = sha256("keycloak");
const OLD: Held = {
  tree: [file("bin/node"), file("app/auditd.mjs", "old"), file("app/vault.mjs", "old")],
  images: [{ digest: `sha256:${IMAGE}` }],
};
const NEW: Held = {
  tree: [file("bin/node"), file("app/auditd.mjs", "new"), file("app/vault.mjs", "new")],
  images: [],
};

type Start = { files?: object[]; image?: string; part?: string };

function measure(
  log: MadeLog,
  { files = [], image, part = "auditd" }: Start,
  prod = "supervisor",
): number {
  const object = { kind: "process", id: part } as const;
  const digests = image === undefined ? {} : { digests: { image } };
  return log.say({ type: "admin.measured", object, detail: { files }, ...digests } as never, prod);
}

function started(...starts: readonly Start[]): MadeLog {
  const log = MadeLog.begun();
  log.start("supervisor");
  for (const one of starts) measure(log, one);
  log.run(1);
  return log;
}

const judge = (log: MadeLog, ...releases: readonly Held[]): Promise<Report> =>
  log.judge({ releases: releasesOf(...releases.map((one) => madeRelease(one))) });

/** Of the first start: the entries before it are of auditd. */
const FIRST = 4;

t.test("starts whose files and images are the release's pass, and are counted", async (t) => {
  const log = started(
    { files: [file("app/auditd.mjs", "old"), file("bin/node")] },
    { part: "keycloak", image: IMAGE },
    { part: "podman" },
  );
  const report = await judge(log, OLD);
  t.match(report, {
    verdicts: {
      INTEGRITY: { verdict: "PASS" },
      COMPLETENESS: {
        verdict: "PASS",
        reason:
          /; 3 starts were measured, 2 of them compared with the release: each ran what that holds$/,
      },
    },
    binaries: { releases: [sha256(madeRelease(OLD))], starts: 3, compared: 2 },
  });
  t.equal(lacksCounterpart(report), false);
  t.match(renderText(report), new RegExp(`release +SHA-256 ${sha256(madeRelease(OLD))}\n`));
  t.match(
    renderText(report),
    /binaries +3 starts were measured, 2 of them compared with the release\n/,
  );
});

t.test("each start must fit one of the releases that ran, whichever", async (t) => {
  const log = started(
    { files: [file("app/auditd.mjs", "old"), file("bin/node")] },
    { files: [file("app/auditd.mjs", "new"), file("bin/node")] },
  );
  t.match((await judge(log, OLD, NEW)).verdicts.COMPLETENESS, { verdict: "PASS" });
  t.match((await judge(log, OLD)).verdicts.COMPLETENESS, { verdict: "FAIL", index: FIRST + 1 });
});

t.test("a start of anything else is a CROSS-CHECK fault at its entry", async (t) => {
  for (const [what, start, reason] of [
    [
      "another content",
      { files: [file("bin/node"), file("app/auditd.mjs", "evil")] },
      /: auditd was started with app\/auditd\.mjs, which is not the release's$/,
    ],
    [
      "another path",
      { files: [file("app/evil.mjs", "old")] },
      /app\/evil\.mjs, which is not the release's$/,
    ],
    [
      "another image",
      { part: "keycloak", image: sha256("evil") },
      /: keycloak was started with the image sha256:[0-9a-f]{64}, which is not the release's$/,
    ],
    ["a file's hash as an image", { image: sha256("bin/node") }, /which is not the release's$/],
    [
      "files of two releases",
      { files: [file("app/auditd.mjs", "old"), file("app/vault.mjs", "new")] },
      /: auditd was started with app\/vault\.mjs, which is not of the release that the rest is of$/,
    ],
    [
      "an image beside files of another release",
      { files: [file("app/auditd.mjs", "new")], image: IMAGE },
      /the image sha256:[0-9a-f]{64}, which is not of the release that the rest is of$/,
    ],
  ] as const) {
    const report = await judge(started({ files: [file("bin/node")] }, start as Start), OLD, NEW);
    t.match(report.verdicts.COMPLETENESS, { verdict: "FAIL", index: FIRST + 1, reason }, what);
    t.match(report.verdicts.COMPLETENESS.reason, /^CROSS-CHECK: /, what);
    t.match(report.binaries, { starts: 2, compared: 2 }, what);
  }
});

t.test(
  "without a release starts are told and not compared, and a log without any says nothing",
  async (t) => {
    const report = await started({ files: [file("app/evil.mjs")] }).judge();
    t.match(report.verdicts.COMPLETENESS, {
      verdict: "PASS",
      reason: /; 1 starts were measured, and not compared with a release$/,
    });
    t.same(report.binaries, { releases: [], starts: 1, compared: 0 });
    t.equal(lacksCounterpart(report), false);
    const none = await started().judge();
    t.notMatch(none.verdicts.COMPLETENESS.reason, /measured/);
    t.notMatch(renderText(none), /binaries|release /);
  },
);

t.test(
  "a release with nothing in the log to compare it with is told, and COMPLETENESS stays as it is",
  async (t) => {
    const foreign = started({ files: [file("app/evil.mjs")] });
    foreign.leaves[FIRST] = Buffer.from(
      canonicalJson(
        {
          ...(JSON.parse(foreign.leaves[FIRST]!.toString()) as object),
          schema_sha256: "f".repeat(64),
        },
        8,
      ),
    );
    const byOthers = MadeLog.begun();
    measure(byOthers, { files: [file("app/evil.mjs")] }, "p");
    byOthers.run(1);
    for (const [what, log, starts] of [
      ["no start", started(), 0],
      ["a start that named nothing", started({ part: "podman" }), 1],
      ["a start under another release's schemas", foreign, 0],
      ["a start that another producer tells of", byOthers, 0],
    ] as const) {
      const report = await judge(log, OLD);
      t.match(
        report.verdicts.COMPLETENESS,
        {
          verdict: "PASS",
          reason: /; no start was measured that could be compared with the release$/,
        },
        what,
      );
      t.match(report.binaries, { starts, compared: 0 }, what);
      t.equal(lacksCounterpart(report), true, what);
      t.match(renderText(report), /binaries +no start was measured/, what);
    }
  },
);

t.test("the leaf of a start is read quickly, its image as well", async (t) => {
  const log = started({ files: [file("bin/node")], image: IMAGE });
  const leaf = log.leaves[FIRST]!;
  t.match(plainLeaf(leaf, 0, leaf.length), {
    digests: { image: IMAGE },
    detail: { files: [file("bin/node")] },
  });
});

t.test("a release as the vendor makes it is read", async (t) => {
  const folder = temporaryFolder(t);
  const tree = join(folder, "tree");
  for (const path of ["bin/node", "app/installer.mjs", "app/auditd.mjs"]) {
    mkdirSync(join(tree, path, ".."), { recursive: true });
    writeFileSync(join(tree, path), `${path}\n`);
  }
  packBundle(join(folder, "bundle"), { tree, imageLayouts: [], keyFile: join(folder, "key") });
  const release = readFileSync(join(folder, "bundle/release.json"));
  const log = started({
    files: [file("app/auditd.mjs", "app/auditd.mjs\n"), file("bin/node", "bin/node\n")],
  });
  const report = await log.judge({ releases: releasesOf(release) });
  t.match(report, {
    verdicts: { COMPLETENESS: { verdict: "PASS" } },
    binaries: { releases: [sha256(release)], compared: 1 },
  });
});

t.test("what is no release is refused", async (t) => {
  const good = madeRelease(OLD);
  const hash = sha256("");
  const payload = (text: string | Buffer) => Buffer.from(text).toString("base64");
  const wrong: Record<string, string | Buffer> = {
    nothing: "",
    "no JSON": "{",
    "no UTF-8": Buffer.from([0xff]),
    "no object": "[]",
    null: "null",
    "a statement without its envelope": JSON.stringify({ predicate: OLD }),
    "another type of payload": good.toString().replace("in-toto", "else"),
    "a payload that is no text": JSON.stringify({
      payloadType: "application/vnd.in-toto+json",
      payload: [1],
    }),
    "base64 that is not the one of its bytes": good
      .toString()
      .replace(/"payload":"/, '"payload":"\\n'),
    "a payload that is no JSON": enveloped("x"),
    "a payload that is no UTF-8": enveloped(Buffer.from([0xff])),
    "a statement of another kind": madeRelease(OLD, {
      predicateType: "https://slsa.dev/provenance/v1",
    }),
    "a statement without a predicate": madeRelease(OLD, { predicate: null }),
    "no list of files": madeRelease({ tree: {} }),
    "no list of images": madeRelease({ images: null }),
    "a file that is none": madeRelease({ tree: [null] }),
    "a path that is none": madeRelease({ tree: [{ path: "a\nb", sha256: hash }] }),
    "an empty path": madeRelease({ tree: [{ path: "", sha256: hash }] }),
    "a long path": madeRelease({ tree: [{ path: "a".repeat(1_025), sha256: hash }] }),
    "a hash that is none": madeRelease({ tree: [{ path: "a", sha256: hash.toUpperCase() }] }),
    "an image that is none": madeRelease({ images: [{ digest: hash }] }),
    "members of its prototype": enveloped(
      '{"__proto__":{"predicateType":"https://reson.tech/sovereign/release/v1"}}',
    ),
    "a deep one": `{"payloadType":"application/vnd.in-toto+json","payload":${"[".repeat(100)}`,
    "a deep statement": enveloped("[".repeat(100)),
    "a long one": Buffer.concat([good, Buffer.alloc(MAX_RELEASE_BYTES, " ")]),
    "base64 as long as one can be": `{"payloadType":"application/vnd.in-toto+json","payload":"${"A".repeat(3_000_000)}=AA"}`,
    "its payload, twice encoded": enveloped(payload(good)),
  };
  for (const [what, bytes] of Object.entries(wrong))
    t.throws(
      () => new Releases(nodePlatform).add(Buffer.from(bytes)),
      { name: "Refused", message: /release/ },
      what,
    );
  const many = new Releases(nodePlatform);
  for (let count = 0; count < 16; count++) many.add(good);
  t.throws(() => many.add(good), { name: "Refused", message: /more than 16/ });
});

t.test("whatever a release is changed into, it is read or refused", async (t) => {
  const good = madeRelease(OLD);
  const statement = Buffer.from(
    (JSON.parse(good.toString()) as { payload: string }).payload,
    "base64",
  );
  const readOrRefused = (bytes: Buffer): void => {
    try {
      new Releases(nodePlatform).add(bytes);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  };
  const change = (bytes: Buffer) =>
    fc
      .tuple(fc.nat(bytes.length - 1), fc.nat(8), fc.uint8Array({ maxLength: 8 }))
      .map(([at, cut, by]) => Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + cut)]));
  t.doesNotThrow(() => {
    fc.assert(fc.property(change(good), readOrRefused), { numRuns: 2_000 });
    fc.assert(
      fc.property(change(statement), (bytes) => readOrRefused(enveloped(bytes))),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => readOrRefused(enveloped(JSON.stringify(value)))),
      { numRuns: 500 },
    );
  });
});

t.test(
  "entries of many files that no release holds are compared in time, beside large releases",
  async (t) => {
    const tree = (of: number) =>
      Array.from({ length: 22_000 }, (_, at) => ({
        path: `${of}/${at}`,
        sha256: randomBytes(32).toString("hex"),
      }));
    const releases = releasesOf(
      ...Array.from({ length: 4 }, (_, of) => madeRelease({ tree: tree(of) })),
    );
    const names = Array.from({ length: MAX_MEASURED_FILES }, (_, at) => file(`a/${at}`));
    const before = process.cpuUsage();
    for (let times = 0; times < 1_000; times++)
      for (const { path, sha256: hash } of names)
        if (releases.withFile(path, hash) !== 0) t.fail(path);
    const { user } = process.cpuUsage(before);
    t.ok(user < 10_000_000, `${Math.round(user / 1_000)} ms of CPU`);
  },
);

t.test("the program takes releases, names their hashes, and ends as they compare", async (t) => {
  const verifier = shippedProgram("sov-verify");
  const folder = temporaryFolder(t);
  const written = (name: string, bytes: Buffer): string => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const log = started(
    { files: [file("app/auditd.mjs", "old")] },
    { files: [file("app/auditd.mjs", "new")] },
  );
  const without = started();
  const run = (one: MadeLog, ...args: string[]) => {
    const given = [written("export", one.archive()), "--policy", written("policy", one.policy())];
    const { status, stdout, stderr } = spawnSync(process.execPath, [verifier, ...given, ...args], {
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };
  const [older, newer] = [written("old", madeRelease(OLD)), written("new", madeRelease(NEW))];
  const both = run(log, "--release", older, "--release", newer, "--json");
  t.equal(both.status, 0, both.stderr);
  t.match(JSON.parse(both.stdout), {
    exitCode: 0,
    binaries: { releases: [sha256(madeRelease(OLD)), sha256(madeRelease(NEW))] },
  });
  t.equal(run(log, "--release", older).status, 16);
  t.equal(run(log).status, 0);
  const lacking = run(without, "--release", older, "--json");
  t.same([lacking.status, JSON.parse(lacking.stdout).exitCode], [65, 65]);
  t.match(run(without, "--release", older).stdout, /COMPLETENESS +PASS/);
  t.match(run(log, "--release", written("none", Buffer.from("{}"))), {
    status: 64,
    stdout: "",
    stderr: /^verify: the release is no DSSE envelope.*\n$/,
  });
  t.match(run(log, "--release", written("long", Buffer.alloc(MAX_RELEASE_BYTES + 1))), {
    status: 64,
    stderr: /longer than/,
  });
  t.match(run(log, "--release", join(folder, "nothing")), { status: 64 });
});
