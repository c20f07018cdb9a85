/** The notifier between the real Prometheus and real receivers. The clock is the test's, where hours would pass. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AlertTarget } from "@resontech/contracts/alert-targets";
import type { NotifierConfig } from "@resontech/contracts/notifier-config";
import type { NotifierReply } from "@resontech/contracts/notifier-protocol";
import { askJsonLines } from "@resontech/frame/ask-json-lines";
import { pino } from "pino";
import t from "tap";
import { shippedProgram } from "../../../airgap/test/helper/shipped-program.ts";
import { Notifier } from "../../src/notifier/notifier.ts";
import { ALERT_RULES } from "../../src/prometheus/alert-rules.ts";
import { certificates } from "../helper/certificates.ts";
import { smtpServer, syslogServer, webhookServer } from "../helper/receivers.ts";
import { RunningPrometheus, until } from "../helper/running-prometheus.ts";

const dir = t.testdir({ secrets: {}, state: {}, "process-state": {}, token: "a".repeat(43) });
const pki = await certificates(join(dir, "pki"));
// Short: a socket's path may have 107 bytes.
const run = mkdtempSync(join(tmpdir(), "rtn-"));
t.teardown(() => rmSync(run, { recursive: true, force: true }));

/** What the coordinator would say of one part. */
let isPartUp = 1;
const figures = createServer(
  { cert: readFileSync(pki.certFile), key: readFileSync(pki.keyFile) },
  (_request, reply) => {
    reply.writeHead(200, { "content-type": "text/plain; version=0.0.4" });
    reply.end(`resontech_part_up{part="nats"} ${isPartUp}\nresontech_part_held{part="nats"} 0\n`);
  },
).listen(0, "127.0.0.1");
await once(figures, "listening");
t.teardown(() => {
  figures.closeAllConnections();
  figures.close();
});
const { port: doorPort } = figures.address() as AddressInfo;
const prometheus = await RunningPrometheus.create(
  join(dir, "prometheus"),
  {
    door: { address: "127.0.0.1", port: doorPort, name: "localhost" },
    ...{ tokenFile: join(dir, "token"), doorCa: pki.caFile },
  },
  ALERT_RULES.filter(({ alert }) => alert === "PartDown").map((rule) => ({
    ...rule,
    forDuration: null,
  })),
);
t.teardown(() => prometheus[Symbol.asyncDispose]());

const mail = await smtpServer(pki);
const hook = await webhookServer(pki);
const siem = await syslogServer(pki);
t.teardown(async () => void (await Promise.all([mail, hook, siem].map((one) => one.close()))));
const targetsFile = join(dir, "alerts.json");
const setTargets = (targets: readonly AlertTarget[]): void =>
  writeFileSync(targetsFile, JSON.stringify({ formatVersion: 1, targets }));
const smtpTarget = (port = mail.port): AlertTarget => ({
  ...{ kind: "smtp", name: "mail", host: "localhost", port, security: "starttls" },
  ...{ from: "appliance@example.org", to: ["ops@example.org"] },
});
const others: AlertTarget[] = [
  { kind: "webhook", name: "hook", url: `https://localhost:${hook.port}/` },
  { kind: "syslog", name: "siem", host: "localhost", port: siem.port, transport: "tls" },
];
writeFileSync(join(dir, "secrets", "hook.secret"), "the key");
const config = (stateDir: string): NotifierConfig => ({
  appliance: "site-a",
  prometheus: {
    ...{ port: prometheus.settings.port, caFile: prometheus.settings.caFile },
    certFile: join(dir, "prometheus", "reader.crt"),
    keyFile: join(dir, "prometheus", "reader.key"),
  },
  ...{ targetsFile, secretsDir: join(dir, "secrets"), rootCertFile: pki.caFile },
  ...{ runbooksDir: "/opt/x/app/runbooks", stateDir: join(dir, stateDir) },
  ...{
    controlSocket: join(run, "control"),
    mailSocket: join(run, "mail"),
    pollMs: 300,
    logLevel: "info",
  },
});

const isFiring = async (): Promise<boolean> =>
  (await prometheus.alerts()).some(({ state }) => state === "firing");

t.test("an alert is told to each target once, across restarts, and its end", async (t) => {
  const clock = { now: Date.now() };
  const open = (): Notifier =>
    new Notifier({
      ...{ config: config("state"), log: pino({ level: "silent" }), now: () => clock.now },
    });
  let notifier = open();
  setTargets([smtpTarget(), ...others]);
  await notifier.look();
  t.equal(mail.mails.length, 0, "nothing is wrong");

  isPartUp = 0;
  t.ok(await until(isFiring, 20_000));
  await notifier.look();
  t.match(
    mail.mails[0]?.text,
    "Subject: [site-a] CRITICAL PartDown: The part nats is not healthy.",
  );
  t.match(mail.mails[0]?.text, "Runbook: /opt/x/app/runbooks/part-down.md");
  t.match(JSON.parse(hook.posts[0]?.body ?? ""), {
    alerts: [
      { status: "firing", name: "PartDown", severity: "critical", labels: { part: "nats" } },
    ],
  });
  t.match(siem.lines[0], /^<130>1 \S+ site-a resontech-alerts - PartDown - status=firing/);
  for (let looks = 0; looks < 3; looks += 1) {
    clock.now += 15_000;
    await notifier.look();
  }
  notifier = open();
  await notifier.look();
  t.same([mail.mails.length, hook.posts.length, siem.lines.length], [1, 1, 1], "once");

  // The mail server goes, and the alert ends: what waits outlives a restart.
  setTargets([smtpTarget(9), ...others]);
  isPartUp = 1;
  t.ok(await until(async () => !(await isFiring()), 20_000));
  clock.now += 30_000;
  await notifier.look();
  t.equal(hook.posts.length, 1, "gone for a moment is not over");
  clock.now += 90_000;
  await notifier.look();
  t.match(JSON.parse(hook.posts[1]?.body ?? ""), { alerts: [{ status: "resolved" }] });
  t.match(siem.lines[1], /^<133>1 .* status=resolved/);
  t.match(notifier.status().targets[0], {
    ...{ name: "mail", waiting: 1, failure: { code: "unreachable", tries: 1 } },
  });
  notifier = open();
  setTargets([smtpTarget(), ...others]);
  await notifier.look();
  t.equal(mail.mails.length, 1, "not before its time");
  clock.now += 15_000;
  await notifier.look();
  t.match(mail.mails[1]?.text, "resolved PartDown");
  t.match(notifier.status().targets[0], { waiting: 0, failure: null, deliveredAt: clock.now });
});

t.test("a Prometheus that is away is told of, and nothing else is over for that", async (t) => {
  const clock = { now: Date.now() };
  const notifier = new Notifier({
    ...{ config: config("away-state"), log: pino({ level: "silent" }), now: () => clock.now },
  });
  mkdirSync(join(dir, "away-state"));
  setTargets([smtpTarget()]);
  isPartUp = 0;
  t.ok(await until(isFiring, 20_000));
  const before = mail.mails.length;
  await notifier.look();
  t.equal(mail.mails.length, before + 1);
  await prometheus.stop("SIGKILL");
  clock.now += 60_000;
  await notifier.look();
  t.equal(mail.mails.length, before + 1, "it may be starting");
  clock.now += 120_000;
  await notifier.look();
  t.match(mail.mails.at(-1)?.text, "CRITICAL PrometheusUnreachable");
  clock.now += 600_000;
  await notifier.look();
  t.equal(mail.mails.length, before + 2, "PartDown is not over because nobody can say");
  await prometheus.start();
  t.ok(await until(isFiring, 20_000));
  await notifier.look();
  clock.now += 90_000;
  await notifier.look();
  t.match(mail.mails.at(-1)?.text, "resolved PrometheusUnreachable");
  t.equal(mail.mails.length, before + 3);
});

t.test("a file of targets that is wrong changes nothing", async (t) => {
  const notifier = new Notifier({ config: config("state"), log: pino({ level: "silent" }) });
  setTargets([smtpTarget()]);
  t.equal(notifier.status().targets.length, 1);
  for (const content of [
    "{",
    '{"formatVersion":2}',
    JSON.stringify({ formatVersion: 1, targets: [{}] }),
  ]) {
    writeFileSync(targetsFile, content);
    t.equal(notifier.status().targets.length, 1, content);
  }
  rmSync(targetsFile);
  t.equal(notifier.status().targets.length, 0, "no file: nobody");
});

t.test("the process answers on its sockets, and outlives who breaks off and kill -9", async (t) => {
  setTargets([smtpTarget(), ...others]);
  const mailsBefore = mail.mails.length;
  const file = join(run, "notifier.json");
  writeFileSync(file, JSON.stringify(config("process-state")));
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [shippedProgram("notifier"), "--config", file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
    t.ok(await until(async () => output.includes('"listening"'), 15_000), output);
    return child;
  };
  const ask = async (socket: string, request: object): Promise<NotifierReply> => {
    for await (const line of askJsonLines(socket, request, 25_000)) return line as NotifierReply;
    throw new Error("no answer");
  };
  const { controlSocket, mailSocket } = config("process-state");
  let child = await start();
  t.teardown(() => child.kill("SIGKILL"));
  const told = async () =>
    mail.mails.slice(mailsBefore).some(({ text }) => text.includes("PartDown"));
  t.ok(await until(told, 15_000), "what is in force is told to who is new");
  t.match(await ask(controlSocket, { verb: "status" }), {
    ...{ ok: true, firing: 1, targets: [{ name: "mail" }, { name: "hook" }, { name: "siem" }] },
  });
  t.match(await ask(controlSocket, { verb: "test", name: "siem" }), { ok: true, verb: "test" });
  t.match(siem.lines.at(-1), "Test - status=firing severity=test");
  t.match(await ask(controlSocket, { verb: "test", name: "none" }), {
    error: { code: "no_target" },
  });
  t.match(
    await ask(mailSocket, {
      verb: "mail",
      to: "anna@example.org",
      subject: "done",
      text: "The job.",
    }),
    { ok: true, verb: "mail" },
  );
  t.match(mail.mails.at(-1), { to: ["anna@example.org"] });
  t.match(mail.mails.at(-1)?.text, "Subject: [site-a] done");
  for (const wrong of [
    {},
    { verb: "status" },
    { verb: "mail", to: "a@b, c@d", subject: "s", text: "t" },
    { verb: "mail", to: "a@b\r\nBcc: c@d", subject: "s", text: "t" },
    { verb: "mail", to: "anna@example.org", subject: "s", text: "x".repeat(20_000) },
    { verb: "mail", to: "anna@example.org", subject: "s", text: "x".repeat(200_000) },
  ])
    t.match(await ask(mailSocket, wrong).catch(() => ({ error: { code: "unknown_request" } })), {
      error: { code: "unknown_request" },
    });
  const count = mail.mails.length;
  child.kill("SIGKILL");
  await once(child, "exit");
  child = await start();
  await sleep(1_500);
  t.equal(mail.mails.length, count, "nobody hears of it twice");
  child.kill("SIGTERM");
  t.same(await once(child, "exit"), [0, null]);
});
