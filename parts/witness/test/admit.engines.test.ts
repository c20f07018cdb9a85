import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { parseCheckpoint } from "@resontech/audit/format/note/checkpoint";
import { LogReader } from "@resontech/audit/format/tree/log-reader";
import { verifierKey } from "@resontech/audit/format/note/note-key";
import { TileProofs } from "@resontech/audit/format/tree/tile-proofs";
import { connectProducer } from "@resontech/audit/producer";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { newSigners, requestOf, TestLog } from "./helper/test-log.ts";
import { WitnessFixture } from "./helper/witness-fixture.ts";

const DECEMBER = Date.parse("2026-12-20T10:00:00Z");

/** A stopped log whose next shard is prepared, and a witness that cosigned its last checkpoint. */
async function cosignedDecember(t: Test) {
  const auditd = new AuditdFixture(temporaryFolder(t), {
    inception: "2026-12-20",
    checkpointMs: 20,
  });
  auditd.clockMs = DECEMBER;
  auditd.init();
  const firstPolicy = join(auditd.root, "first.policy");
  writeFileSync(firstPolicy, readFileSync(auditd.config.policyFile));
  t.teardown(() => auditd.stop("SIGKILL"));
  await auditd.start();
  await using producer = await connectProducer({
    socketPath: auditd.socket("appliance"),
    boot: "b-1",
  });
  await producer.fact(keyList());
  await producer.close();
  await auditd.stop();
  const witness = new WitnessFixture(t);
  witness.init();
  t.match(witness.run("admit", "--first", firstPolicy), {
    status: 0,
    stdout: /"box\.audit\.acme\/2026"/,
  });
  await witness.serve();
  const note = readFileSync(join(auditd.logDir, "checkpoint"), "utf8");
  const { status, body } = await witness.post(requestOf(0, [], note));
  t.equal(status, 200);
  const leaves = await readLeaves(auditd.logDir);
  return { auditd, witness, firstPolicy, note, cosigned: note + body, leaves };
}

/** tlog-proof of the leaf at `index`, its bytes in `extra`. */
async function proofText(
  logDir: string,
  index: number,
  checkpoint: string,
  change = (leaf: string) => leaf,
): Promise<string> {
  const { size } = parseCheckpoint(checkpoint)!;
  const reader = new LogReader(logDir);
  const [leaf] = (await reader.readEntries(0, size)).slice(index);
  const path = await new TileProofs(reader, size).inclusion(index);
  const extra = Buffer.from(change(leaf!.toString("utf8"))).toString("base64");
  return `c2sp.org/tlog-proof@v1\nextra ${extra}\nindex ${index}\n${path.map((hash) => `${hash.toString("base64")}\n`).join("")}\n${checkpoint}`;
}

t.test(
  "a new shard is known only by the log's own word under a checkpoint that this witness cosigned",
  async (t) => {
    const { auditd, witness, firstPolicy, note, cosigned, leaves } = await cosignedDecember(t);
    const index = leaves.findIndex(({ type }) => type === "audit.shard.next");
    const file = join(auditd.root, "next.tlog-proof");
    const admit = (text: string) => {
      writeFileSync(file, text);
      return witness.run("admit", file);
    };
    const refused: [string, RegExp, string][] = [
      ["not cosigned", /not_cosigned/, await proofText(auditd.logDir, index, note)],
      ["another leaf", /leaf_wrong/, await proofText(auditd.logDir, 0, cosigned)],
      [
        "a changed leaf",
        /not_included/,
        await proofText(auditd.logDir, index, cosigned, (leaf) => leaf.replace("2027", "2028")),
      ],
      [
        "another place",
        /not_included/,
        (await proofText(auditd.logDir, index, cosigned)).replace(/^index .*$/m, "index 0"),
      ],
      [
        "another tree",
        /not_signed/,
        (await proofText(auditd.logDir, index, cosigned)).replace(
          /\n(\d+)\n(.{43}=)\n\n—/,
          "\n1$1\n$2\n\n—",
        ),
      ],
      [
        "a log that is not known",
        /origin_unknown/,
        (await proofText(auditd.logDir, index, cosigned)).replaceAll("box.", "fox."),
      ],
      ["no proof", /proof_malformed/, cosigned],
      [
        "no leaf",
        /proof_malformed/,
        (await proofText(auditd.logDir, index, cosigned)).replace(/^extra .*\n/m, ""),
      ],
    ];
    for (const [what, stderr, text] of refused) t.match(admit(text), { status: 1, stderr }, what);
    t.same(
      witness.logs().map(({ origin }) => origin),
      ["box.audit.acme/2026"],
    );
    t.match(
      witness.run("admit", "--first", auditd.config.policyFile),
      { status: 1, stderr: /log_known/ },
      "a policy is not its word",
    );
    t.match(witness.run("admit", "--first", firstPolicy), { status: 0 }, "again what is known");

    const sound = await proofText(auditd.logDir, index, cosigned);
    for (const what of ["the first time", "again"])
      t.match(admit(sound), { status: 0, stdout: '{"admitted":["box.audit.acme/2027"]}\n' }, what);
    const [state = ""] = readdirSync(join(witness.dir, "logs"))
      .map((name) => join(witness.dir, "logs", name))
      .filter((path) => readFileSync(path, "utf8").includes('"box.audit.acme/2026"'));
    const open = readFileSync(state, "utf8");
    writeFileSync(state, open.replace('"followedBy":null', '"followedBy":"box.audit.acme/2027-2"'));
    t.match(
      admit(sound),
      { status: 1, stderr: /already_followed/ },
      "a log that ended here names no shard any more",
    );
    writeFileSync(state, open);
    auditd.clockMs = Date.parse("2027-01-01T00:00:05Z");
    await auditd.start();
    await auditd.control({ verb: "clock-is-right" });
    await auditd.stop();
    const next = readFileSync(join(auditd.shardDir("2027"), "checkpoint"), "utf8");
    t.equal(
      (await witness.post(requestOf(0, [], next))).status,
      200,
      "the serving process knows it at once",
    );
  },
);

t.test("at the ceremony a log is known by its policy, and later never by other keys", async (t) => {
  const log = await TestLog.make(t);
  const witness = new WitnessFixture(t);
  witness.init(log);
  const policy = join(temporaryFolder(t), "policy");
  const firstOf = (text: string) => {
    writeFileSync(policy, text);
    return witness.run("admit", "--first", policy);
  };
  const other = newSigners(log.origin).map((signer) => `log ${verifierKey(signer)}\n`);
  t.match(firstOf(`${other.join("")}quorum none\n`), { status: 1, stderr: /keys_differ/ });
  t.match(firstOf("quorum none\n"), { status: 1, stderr: /policy_without_log/ });
  t.match(firstOf("quorum nobody\n"), { status: 1, stderr: /policy_invalid: line 1/ });
  t.match(firstOf("x".repeat(300_000)), { status: 1, stderr: /file_too_long/ });
  t.match(witness.run("admit", "--first", join(policy, "gone")), {
    status: 1,
    stderr: /file_missing/,
  });
  t.match(witness.run("admit"), { status: 2, stderr: /usage/ });
  t.equal(witness.logs().length, 1);
});

t.test(
  "a shard after a restore is known only if it admits the loss of all that the witness saw",
  async (t) => {
    const auditd = new AuditdFixture(temporaryFolder(t), { checkpointMs: 20 });
    auditd.init();
    t.teardown(() => auditd.stop("SIGKILL"));
    await auditd.start();
    const witness = new WitnessFixture(t);
    witness.init();
    witness.run("admit", "--first", auditd.config.policyFile);
    await witness.serve();
    const { auditDir, policyFile } = auditd.config;
    const append = async () => {
      await using producer = await connectProducer({
        socketPath: auditd.socket("appliance"),
        boot: crypto.randomUUID(),
      });
      await producer.covered((await producer.fact(keyList())).index);
      return readFileSync(join(auditd.logDir, "checkpoint"), "utf8");
    };
    const old = { origin: `box.audit.acme/${auditd.currentSlug}`, note: await append() };
    await auditd.copyTo(join(auditd.root, "backup"));
    const lost = await append();
    t.equal((await witness.post(requestOf(0, [], lost))).status, 200);
    await witness.stop();
    await auditd.stop();
    rmSync(auditDir, { recursive: true });
    renameSync(join(auditd.root, "backup"), auditDir);
    writeFileSync(join(auditDir, "restored"), "");
    await auditd.start();
    t.match(await auditd.control({ verb: "open-shard", approvers: ["ann", "bob"] }), {
      origin: `${old.origin}-2`,
    });

    const file = join(auditd.root, "first.tlog-proof");
    const admit = (text: string, policy = policyFile, ...more: string[]) => {
      writeFileSync(file, text);
      return witness.run("admit", "--after-restore", policy, file, ...more);
    };
    const newDir = auditd.shardDir(auditd.currentSlug);
    const note = readFileSync(join(newDir, "checkpoint"), "utf8");
    const sound = await proofText(newDir, 0, note);
    const strangers = join(auditd.root, "strangers.policy");
    const keys = newSigners(`${old.origin}-2`).map((signer) => `log ${verifierKey(signer)}\n`);
    writeFileSync(strangers, `${keys.join("")}quorum none\n`);
    const without = join(auditd.root, "without.policy");
    writeFileSync(without, readFileSync(policyFile, "utf8").replace(/^log .*-2\+.*\n/gm, ""));
    const refused: [string, RegExp, ReturnType<typeof admit>][] = [
      ["the loss of less than it saw", /loss_understated/, admit(sound)],
      ["keys of somebody else", /not_signed/, admit(sound, strangers)],
      ["a policy without the shard", /origin_unknown/, admit(sound, without)],
      ["another entry", /not_included/, admit(await proofText(newDir, 1, note))],
      [
        "a changed leaf",
        /not_included/,
        admit(await proofText(newDir, 0, note, (leaf) => leaf.replace("ann", "eve"))),
      ],
      [
        "the first entry of a log that follows none",
        /leaf_wrong/,
        admit(await proofText(auditd.shardDir(old.origin.slice(-4)), 0, old.note)),
      ],
      ["no proof", /proof_malformed/, admit(note)],
    ];
    for (const [what, stderr, result] of refused) t.match(result, { status: 1, stderr }, what);
    t.equal(witness.logs().length, 1, "nothing was taken");

    await witness.serve();
    t.match(
      admit(sound, policyFile, "--despite-smaller-loss"),
      { status: 1, stderr: /already_serving/ },
      "while the old shard may be cosigned",
    );
    t.equal(witness.logs().length, 1, "nothing was taken");
    await witness.stop();
    t.match(admit(sound, policyFile, "--despite-smaller-loss"), {
      status: 0,
      stdout: /"admitted":\["box[^"]*-2"\].*"witnessSize":/,
    });
    t.match(admit(sound, policyFile, "--despite-smaller-loss"), { status: 0 }, "again");
    await witness.serve();
    t.equal((await witness.post(requestOf(0, [], note))).status, 200, "the new shard is cosigned");
    const grown = Number(lost.split("\n")[1]);
    t.match(await witness.post(requestOf(grown, [], lost)), { status: 403 }, "the old one no more");
    t.match(witness.run("admit", file, "--despite-smaller-loss"), { status: 2, stderr: /usage/ });
  },
);
