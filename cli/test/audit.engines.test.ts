import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { OperatorAnswer } from "@resontech/contracts/operator-routes";
import t from "tap";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { goodBody, goodFiles, upload } from "@resontech/coordinator/testing/workspace";
import { shippedProgram } from "@resontech/house/shipped-program";

const MAIN = shippedProgram("resontech");
const VERIFIER = shippedProgram("sov-verify");
type User = OperatorAnswer<"add-user">;

const resontech = (env: Record<string, string>, ...args: string[]) =>
  spawnSync(process.execPath, [MAIN, ...args], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], ...env },
  });

t.test(
  "a researcher's shell shows his own entries",
  { skip: process.getuid?.() === 0 ? false : "audit-out's file must be root's" },
  async (t) => {
    const coordinator = await RunningCoordinator.create({ vault: true });
    t.teardown(() => coordinator[Symbol.asyncDispose]());
    await coordinator.startSearch();
    const alice = await coordinator.control("add-user", { username: "alice" });
    for (let i = 0; i < 5; i++) await coordinator.get("/api/keys", alice.platformKey);
    const dir = t.testdir();
    const caFile = join(dir, "ca.pem");
    writeFileSync(caFile, coordinator.caPem);
    const env = {
      RESON_API_KEY: alice.platformKey,
      RESON_BASE_URL: coordinator.url,
      SSL_CERT_FILE: caFile,
    };
    const search = (...args: string[]) =>
      resontech(env, "audit", "search", "--type", "key.list", ...args);
    for (let tries = 0; tries < 1_000 && search("--json").stdout.split("\n").length < 6; tries++)
      await sleep(50);

    const first = search("--limit", "3", "--oldest", "--json");
    t.match(first, { status: 0, stderr: /there is more: .* --cursor / });
    const cursor = /--cursor (\S+)/.exec(first.stderr)![1]!;
    const rest = search("--oldest", "--json", "--cursor", cursor);
    const entries = [first, rest].flatMap(({ stdout }) =>
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { index: number }),
    );
    t.equal(entries.length, 5);
    t.same(
      entries.map(({ index }) => index),
      entries.map(({ index }) => index).toSorted((a, b) => a - b),
    );
    t.match(search(), { status: 0, stdout: /^ENTRY +TIME.*\n\d{4}\// });

    const proof = join(dir, "entry.tlog-proof");
    const shown = resontech(env, "audit", "show", String(entries[0]!.index), "--proof", proof);
    t.match(JSON.parse(shown.stdout), { event: { type: "key.list" }, leafHash: /^[0-9a-f]{64}$/ });
    const policy = coordinator.auditd.config.policyFile;
    t.match(
      execFileSync(process.execPath, [VERIFIER, proof, "--policy", policy], { encoding: "utf8" }),
      /SIGNATURE +PASS/,
    );

    t.match(search("--object", "nobody"), {
      status: 0,
      stdout: "",
      stderr: /no entry that you may see matches/,
    });
    t.match(search("--from", "next week"), {
      ...{ status: 2, stderr: /search_invalid.*yesterday, now/ },
    });
    t.match(search("--type", "job.sumbit"), {
      status: 2,
      stderr: /search_invalid.*there is no such one; there are .*job\.submit/,
    });
    t.match(search("--outcome", "refused", "--from", "2026-01-01"), {
      status: 0,
      stderr: /no entry that you may see matches/,
    });
    t.match(search("--from", "yesterday", "--limit", "2"), {
      ...{ status: 0, stdout: /key\.list/, stderr: /--cursor \S+\.\w+\./ },
    });
    t.match(resontech(env, "audit", "report", "admin", "--json"), { status: 0 });
    t.match(resontech(env, "audit", "questions"), { status: 0, stdout: /data-read +\[--data\]/ });
    t.match(resontech(env, "audit", "ask", "person", "--from", "7d"), {
      ...{ status: 2, stderr: /search_invalid.*person needs person/ },
    });
    t.match(resontech(env, "audit", "ask", "person", "--person", alice.userId), {
      ...{ status: 0, stdout: /key\.list/, stderr: /administrators' actions/ },
    });
    t.match(resontech(env, "audit", "ask", "gossip"), {
      ...{ status: 2, stderr: /question_unknown.*\n.*data-read, person/ },
    });
    t.match(resontech(env, "audit", "report", "gossip"), {
      status: 2,
      stderr: /There are job, refused, exports, admin/,
    });
    t.match(resontech(env, "audit", "show", String(entries[0]!.index), "--proof", proof), {
      status: 1,
      stderr: /file_exists/,
    });
    t.match(resontech(env, "audit", "show", "999999"), { status: 1, stderr: /not_found/ });
    t.match(resontech(env, "audit", "show", "../keys"), { status: 2, stderr: /entry_invalid/ });
    t.match(resontech({ ...env, RESON_API_KEY: "rsk_live_wrong" }, "audit", "search"), {
      status: 1,
      stderr: /invalid_api_key/,
    });
    t.match(resontech({ ...env, SSL_CERT_FILE: "/nowhere.pem" }, "audit", "search"), {
      status: 1,
      stderr: /ca_unreadable/,
    });
    const { SSL_CERT_FILE: _trusted, ...untrusting } = env;
    t.match(
      resontech(untrusting, "audit", "search"),
      { status: 1, stderr: /unreachable/ },
      "a key goes to nobody who is not trusted",
    );
    t.notMatch(readFileSync(proof, "utf8"), /rsk_/);

    t.test(
      "who touched a job: entries of the job and of its objects, and what can't be shown is said",
      async (t) => {
        const [officer, bob] = [
          await coordinator.control("add-user", { username: "officer" }),
          await coordinator.control("add-user", { username: "bob" }),
        ];
        coordinator.giveRoles(officer.userId, ["security-officer"]);
        await upload(coordinator.s3, alice.bucketAlias, "study", goodFiles());
        const submit = () =>
          coordinator.request("POST", "/api/tasks", alice.platformKey, goodBody("study"));
        const job = String((await submit()).body["id"]);
        const init = { key: "jobs/study/more.csv", size: 3 };
        t.match(
          await coordinator.request(
            "POST",
            "/api/users/storage/upload/init",
            alice.platformKey,
            init,
          ),
          { status: 200 },
        );
        const beside = { key: "jobs/study-2/more.csv", size: 3 };
        t.match(
          await coordinator.request(
            "POST",
            "/api/users/storage/upload/init",
            alice.platformKey,
            beside,
          ),
          { status: 200 },
        );
        const report = (user: User, ...args: string[]) =>
          resontech(
            { ...env, RESON_API_KEY: user.platformKey },
            "audit",
            "report",
            "job",
            job,
            ...args,
          );
        const linesOf = ({ stdout }: { stdout: string }) =>
          stdout.split("\n").filter((line) => line !== "");
        for (
          let tries = 0;
          tries < 1_000 && !/data\.upload\.init.*completed/.test(report(officer).stdout);
          tries++
        )
          await sleep(100);

        const shown = report(officer);
        t.match(shown, { status: 0, stdout: /^ENTRY .* FROM +OBJECT\n/ });
        const submissions = linesOf(shown).filter((line) => line.includes("job.submit"));
        t.equal(submissions.length, 2, "asked for, and accepted");
        for (const line of submissions) t.match(line, / [0-9a-f]{12}  job /, "from where");
        const uploads = linesOf(shown).filter((line) => line.includes("data.upload.init"));
        t.equal(uploads.length, 2, "of the job's folder alone, with its end");
        for (const line of uploads)
          t.match(line, new RegExp(`${alice.userId} .* [0-9a-f]{12}  object [0-9a-f]{12}\\*$`));
        t.match(shown.stderr, /Not shown: which object and which address/);
        t.notMatch(shown.stderr, /other jobs|not known/);
        t.equal(
          report(officer, "--limit", "1").stderr.includes("there is more"),
          true,
          "nothing is left out without a word",
        );
        const hers = linesOf(report(alice, "--json")).map(
          (line) => JSON.parse(line) as { type: string; onBehalfOf: string },
        );
        t.ok(hers.every(({ onBehalfOf }) => onBehalfOf === alice.userId));
        for (const type of ["job.submit", "data.upload.init"])
          t.ok(
            hers.some((entry) => entry.type === type),
            `her own ${type}`,
          );

        const other = report(bob);
        t.match(other, {
          status: 0,
          stdout: "",
          stderr: /which objects are those of job-\w+ is not known/,
        });
        await coordinator.control("job-cancel", { job, reason: "the folder is used again" });
        const again = String((await submit()).body["id"]);
        t.match(report(officer).stderr, new RegExp(`other jobs with the same folder: ${again}`));
        t.match(
          resontech(
            { ...env, RESON_API_KEY: officer.platformKey },
            "audit",
            "search",
            "--below",
            `${alice.bucketAlias}/jobs/study-2/`,
          ),
          { status: 0, stdout: /data\.upload\.init/ },
        );
        t.match(search("--below", "bucket/jobs/study"), {
          status: 2,
          stderr: /a slash at its end/,
        });
      },
    );
  },
);

t.test("without settings, or with plain HTTP to elsewhere, nothing is sent", (t) => {
  t.match(resontech({}, "audit", "search"), {
    status: 1,
    stderr: /not_configured.*\n.*quickstart/,
  });
  t.match(
    resontech({ RESON_API_KEY: "k", RESON_BASE_URL: "http://example.org" }, "audit", "search"),
    {
      status: 2,
      stderr: /url_invalid/,
    },
  );
  t.match(resontech({}, "audit", "search", "--limit", "0"), { status: 2, stderr: /1 to 1000000/ });
  t.match(resontech({}, "--help"), { status: 0, stdout: /audit/ });
  t.end();
});
