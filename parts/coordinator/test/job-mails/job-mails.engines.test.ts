/** Wishes over the running coordinator's API; mails by the real notifier to a real mail server. Keycloak's word on an address is given. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import t from "tap";
import { certificates } from "@resontech/house/test-certificates";
import { smtpServer } from "@resontech/house/alert-receivers";
import { RunningPart } from "@resontech/house/running-part";
import { until } from "@resontech/house/until";
import { notifier as part } from "@resontech/notifier/part";
import { GroupCommit } from "../../src/db/group-commit.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { JobMailer } from "../../src/job-mails/job-mailer.ts";
import {
  mailRequestsOf,
  requestMailOfAll,
  requestMailOfJob,
} from "../../src/job-mails/mail-request-store.ts";
import { RunningCoordinator } from "../helper/running-coordinator.ts";

/** A job of the user in the own project. @param endedAt null while it runs */
function insertJob(
  db: InstanceType<typeof Database>,
  { id, user, project, name = "digits", endedAt = null }: InsertedJob,
): void {
  const { next } = db.prepare("SELECT coalesce(max(sequence), 0) + 1 AS next FROM jobs").get() as {
    next: number;
  };
  db.prepare(
    `INSERT INTO jobs (id, sequence, project_id, user_id, name, slug, bucket, output_root, state, version, desired, state_since, selection,
       only_mine, image, min_clients, resumable, warnings, shard_count, shard_uncompressed_bytes, audit_op, audit_index, audit_leaf, created_at, ended_at)
     VALUES (?, ?, ?, ?, ?, 'n', (SELECT name FROM buckets LIMIT 1), ?, ?, 1, 'run', 1, '{}', 0, '{}', 1, 1, '[]', 1, '[1]', 'op', 1, 'leaf', 1, ?)`,
  ).run(
    id,
    next,
    project,
    user,
    name,
    `jobs/${id}`,
    endedAt === null ? "RUNNING" : "SUCCEEDED",
    endedAt,
  );
}
type InsertedJob = {
  id: string;
  user: string;
  project: string;
  name?: string;
  endedAt?: number | null;
};

t.test("everybody sets the own wishes, of jobs that one may read", async (t) => {
  const coordinator = await RunningCoordinator.create();
  t.teardown(() => coordinator[Symbol.asyncDispose]());
  const made = (username: string) => coordinator.control("add-user", { username });
  const [anna, bert] = [await made("anna"), await made("bert")];
  const db = new Database(coordinator.config.databaseFile, { timeout: 60_000 });
  t.teardown(() => db.close());
  const project = db.prepare("SELECT id FROM projects WHERE owner_id = ?").pluck().get(anna.userId);
  insertJob(db, { id: "job-1", user: anna.userId, project: String(project), endedAt: 5 });
  const ask = (method: string, path: string, key = anna.platformKey) =>
    coordinator.request(method, `/api/job-mails${path}`, key);
  t.match(await ask("GET", ""), { status: 200, body: { all: false, jobs: [] } });
  t.match(await ask("PUT", "/job-1"), { status: 200, body: { jobs: ["job-1"] } });
  t.match(await ask("PUT", "/job-1"), { status: 200, body: { jobs: ["job-1"] } }, "twice is once");
  t.match(await ask("PUT", ""), { status: 200, body: { all: true } });
  t.match(await ask("GET", "", bert.platformKey), { body: { all: false, jobs: [] } });
  for (const method of ["PUT", "DELETE"])
    for (const id of ["job-1", "job-none"])
      t.match(await ask(method, `/${id}`, bert.platformKey), {
        status: 404,
        body: { code: "not_found" },
      });
  t.match(await ask("DELETE", "/job-1"), { status: 200, body: { all: true, jobs: [] } });
  t.match(await ask("DELETE", ""), { status: 200, body: { all: false } });
  t.equal((await coordinator.request("PUT", "/api/job-mails")).status, 401);
});

t.test(
  "a mail goes at the end, once, to who is still there, and waits while nobody takes it",
  async (t) => {
    // Short: a socket's path may have 107 bytes.
    const dir = mkdtempSync(join(tmpdir(), "rtj-"));
    t.teardown(() => rmSync(dir, { recursive: true, force: true }));
    const pki = await certificates(join(dir, "pki"));
    const server = await smtpServer(pki);
    t.teardown(() => server.close());
    const targetsFile = join(dir, "alerts.json");
    const notifier = await RunningPart.start(part, {
      ...{ appliance: "site-a", targetsFile, secretsDir: dir, rootCertFile: pki.caFile },
      ...{ runbooksDir: dir, pollMs: 1_000 },
      prometheus: { port: 9, caFile: pki.caFile, certFile: pki.certFile, keyFile: pki.keyFile },
    });
    t.teardown(() => notifier[Symbol.asyncDispose]());

    const opened = openDatabase(join(dir, "coordinator.db"));
    t.teardown(() => opened[Symbol.dispose]());
    const db = opened.write;
    const commit = new GroupCommit(db);
    db.exec(`
    INSERT INTO users (id, username, is_admin, created_at, subject) VALUES
      ('u_1', 'anna', 0, 1, 'sub-1'), ('u_2', 'bert', 0, 1, 'sub-2'), ('u_3', 'cleo', 0, 1, 'sub-3');
    INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('p_1', 'u_1', 'default', 1, 1);
    INSERT INTO project_members (project_id, user_id, role, created_at) VALUES ('p_1', 'u_1', 'project-lead', 1), ('p_1', 'u_3', 'viewer', 1);
    INSERT INTO buckets (name, project_id, log_id, quota_bytes, created_at) VALUES ('anna-1', 'p_1', 'u_1', 1000000, 1);
  `);
    const clock = { now: 1_000_000 };
    const job = (id: string, more: Partial<InsertedJob> = {}) =>
      insertJob(db, { id, user: "u_1", project: "p_1", ...more });
    const end = (id: string) =>
      db.prepare("UPDATE jobs SET state = 'FAILED', ended_at = ? WHERE id = ?").run(clock.now, id);
    const errors: string[] = [];
    let looks = 0;
    const afterMoreLooks = async (): Promise<void> => {
      const upTo = looks + 4;
      t.ok(await until(async () => looks >= upTo, 120_000), "it looks again and again");
    };
    const mailer = (): JobMailer =>
      new JobMailer({
        ...{
          read: opened.read,
          commit,
          mailSocket: notifier.socket("mail"),
          publicUrl: "https://a.example:8000",
        },
        ...{
          now: () => {
            looks += 1;
            return clock.now;
          },
          expectedStart: async () => 7_000,
          onError: (error) => void errors.push(String(error)),
          lookMs: 50,
        },
        // Somebody without an address among them.
        accounts: {
          emailOf: async (subject) => (subject === "sub-3" ? null : `${subject}@example.org`),
        },
      });
    job("old", { endedAt: 5 });
    job("single", { name: "line\r\nBcc: x@example.org" });
    job("of-all");
    // Bert is in no project any more, Cleo has no address.
    for (const user of ["u_1", "u_2", "u_3"])
      await commit.run((handle) => requestMailOfJob(handle, user, "single", true));
    await commit.run((handle) => requestMailOfAll(handle, "u_1", true, clock.now));

    let running = mailer();
    await afterMoreLooks();
    t.same(server.mails, [], "nothing has ended");
    clock.now += 1;
    end("single");
    end("of-all");
    t.ok(await until(async () => errors.length > 0, 120_000), "no target sends mail yet");
    t.match(errors[0], "no target sends mail");
    await running[Symbol.asyncDispose]();

    writeFileSync(
      targetsFile,
      JSON.stringify({
        formatVersion: 1,
        targets: [
          {
            ...{
              kind: "smtp",
              name: "mail",
              host: "localhost",
              port: server.port,
              security: "starttls",
            },
            ...{ from: "appliance@example.org", to: ["ops@example.org"] },
          },
        ],
      }),
    );
    running = mailer();
    await afterMoreLooks();
    t.same(server.mails, [], "not before its time, also after a restart");
    clock.now += 60_000;
    t.ok(await until(async () => server.mails.length === 2, 120_000));
    t.same(
      server.mails.map(({ to }) => to),
      [["sub-1@example.org"], ["sub-1@example.org"]],
    );
    // Quoted-printable folds long lines.
    const text = server.mails.map((mail) => mail.text.replaceAll("=\r\n", "")).join("\n");
    t.match(text, "Subject: [site-a] Job line Bcc: x@example.org: failed");
    t.match(text, "https://a.example:8000/dashboard/jobs/of-all");
    t.notMatch(text, /^Bcc:/m);
    clock.now += 10_000_000;
    await afterMoreLooks();
    t.equal(server.mails.length, 2, "once");
    t.same(mailRequestsOf(opened.read, "u_1"), { all: true, jobs: [] });
    t.same(mailRequestsOf(opened.read, "u_3").jobs, [], "who has no address hears nothing");

    db.exec(
      "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('p_2', 'u_2', 'lung', 0, 1)",
    );
    job("asks", { user: "u_2", project: "p_2" });
    const makesWay = (id: string, state: string) => {
      job(id);
      db.prepare("UPDATE jobs SET state = ? WHERE id = ?").run(state, id);
      db.prepare(
        "INSERT INTO preemptions (job_id, reason, victim_job, victim_attempt, workers, decided_at, kept_until) VALUES ('asks', 'guarantee', ?, 'a', '[]', 1, 1)",
      ).run(id);
    };
    makesWay("runs-again", "RUNNING");
    makesWay("leaves", "PREEMPTING");
    await afterMoreLooks();
    t.equal(server.mails.length, 2, "not before it has let go");
    db.prepare("UPDATE jobs SET state = 'QUEUED' WHERE id = 'leaves'").run();
    t.ok(await until(async () => server.mails.length === 3, 120_000));
    const told = () => server.mails.at(-1)!.text.replaceAll("=\r\n", "");
    t.match(told(), "Subject: [site-a] Job digits: made way");
    t.match(told(), "It made way for another project. It begins anew.");
    t.match(told(), "workers again at 1970-01-01T00:00:07.000Z");
    t.match(told(), "https://a.example:8000/dashboard/jobs/leaves");
    db.exec(
      "INSERT INTO project_members (project_id, user_id, role, created_at) VALUES ('p_2', 'u_1', 'viewer', 1)",
    );
    makesWay("waits", "QUEUED");
    t.ok(await until(async () => server.mails.length === 4, 120_000));
    t.match(told(), "It made way for project lung.", "whoever is in it may know");
    await afterMoreLooks();
    t.equal(server.mails.length, 4, "once");

    const needed = (id: string, state: string, ...texts: string[]) => {
      job(id);
      db.prepare("UPDATE jobs SET state = ? WHERE id = ?").run(state, id);
      for (const text of texts)
        db.prepare("INSERT INTO calendar_news (job_id, text, noted_at) VALUES (?, ?, 1)").run(
          id,
          text,
        );
    };
    needed("gone", "QUEUED", "node-a goes into maintenance");
    needed(
      "moved",
      "RUNNING",
      "node-a goes into maintenance from 1",
      "node-a goes into maintenance from 2",
    );
    t.ok(await until(async () => server.mails.length === 5, 120_000));
    t.match(told(), "Subject: [site-a] Job digits: its node is needed");
    t.match(told(), "node-a goes into maintenance from 2.", "the last that was said of it");
    await afterMoreLooks();
    t.equal(server.mails.length, 5, "once, and nothing of what does not run there");
    t.equal(db.prepare("SELECT count(*) FROM calendar_news").pluck().get(), 0);
    job("rests");
    const warn = (text: string) =>
      db
        .prepare(
          "INSERT INTO job_warnings (job_id, site, topic, text, times) VALUES ('rests', 'job', 'idle', ?, 1)",
        )
        .run(text);
    warn("it is ended in 10 minutes unless it does something");
    t.ok(await until(async () => server.mails.length === 6, 120_000));
    t.match(told(), "Subject: [site-a] Job digits: idles");
    t.match(told(), "will end soon: it is ended in 10 minutes unless it does something.");
    await afterMoreLooks();
    t.equal(server.mails.length, 6, "once while the warning stands");
    db.exec("DELETE FROM job_warnings WHERE job_id = 'rests'");
    await afterMoreLooks();
    warn("once more");
    t.ok(await until(async () => server.mails.length === 7, 120_000));
    await running[Symbol.asyncDispose]();
  },
);
