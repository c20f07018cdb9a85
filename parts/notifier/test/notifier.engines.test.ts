/** The notifier between the real Prometheus and real receivers. The clock is the test's, where hours would pass. */
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AlertTarget } from "../src/alert-targets.ts";
import type { NotifierConfig } from "../src/config.ts";
import { listTargets, mailToPerson, sendTestAlert } from "../src/operations.ts";
import { pino } from "pino";
import t from "tap";
import { RunningPart } from "@resontech/house/running-part";
import { notifier as part } from "../part.ts";
import { Notifier } from "../src/notifier.ts";
import { ALERT_RULES } from "@resontech/prometheus/alert-rules";
import { certificates } from "@resontech/house/test-certificates";
import { smtpServer, syslogServer, webhookServer } from "@resontech/house/alert-receivers";
import { RunningPrometheus } from "@resontech/house/running-prometheus";
import { until } from "@resontech/house/until";

const log = pino({ level: "silent" });
const dir = t.testdir({ secrets: {}, state: {}, "away-state": {}, token: "a".repeat(43) });
const pki = await certificates(join(dir, "pki"));

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
const config: NotifierConfig = {
  appliance: "site-a",
  prometheus: {
    ...{ port: prometheus.settings.port, caFile: prometheus.settings.caFile },
    certFile: join(dir, "prometheus", "reader.crt"),
    keyFile: join(dir, "prometheus", "reader.key"),
  },
  ...{ targetsFile, secretsDir: join(dir, "secrets"), rootCertFile: pki.caFile },
  ...{ runbooksDir: "/opt/x/app/runbooks", pollMs: 300 },
};

const isFiring = async (): Promise<boolean> =>
  (await prometheus.alerts()).some(({ state }) => state === "firing");

t.test("an alert is told to each target once, across restarts, and its end", async (t) => {
  const clock = { now: Date.now() };
  const open = (): Notifier =>
    new Notifier({
      ...{ config, dataDir: join(dir, "state"), log, now: () => clock.now },
    });
  let notifier = open();
  setTargets([smtpTarget(), ...others]);
  await notifier.look();
  t.equal(mail.mails.length, 0, "nothing is wrong");

  isPartUp = 0;
  t.ok(await until(isFiring, 120_000));
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
  t.ok(await until(async () => !(await isFiring()), 120_000));
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
    ...{ config, dataDir: join(dir, "away-state"), log, now: () => clock.now },
  });
  setTargets([smtpTarget()]);
  isPartUp = 0;
  t.ok(await until(isFiring, 120_000));
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
  t.ok(await until(isFiring, 120_000));
  await notifier.look();
  clock.now += 90_000;
  await notifier.look();
  t.match(mail.mails.at(-1)?.text, "resolved PrometheusUnreachable");
  t.equal(mail.mails.length, before + 3);
});

t.test("a file of targets that is wrong changes nothing", async (t) => {
  const notifier = new Notifier({ config, dataDir: join(dir, "state"), log });
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
  const running = await RunningPart.start(part, config);
  t.teardown(() => running[Symbol.asyncDispose]());
  const told = async () =>
    mail.mails.slice(mailsBefore).some(({ text }) => text.includes("PartDown"));
  t.ok(await until(told, 120_000), "what is in force is told to who is new");
  t.match(await running.ask("control", listTargets, {}), {
    ...{ firing: 1, targets: [{ name: "mail" }, { name: "hook" }, { name: "siem" }] },
  });
  t.same(await running.ask("control", sendTestAlert, { target: "siem" }), {});
  t.match(siem.lines.at(-1), "Test - status=firing severity=test");
  await t.rejects(running.ask("control", sendTestAlert, { target: "none" }), { code: "no_target" });
  const toAnna = { to: "anna@example.org", subject: "done", text: "The job." };
  t.same(await running.ask("mail", mailToPerson, toAnna), {});
  t.match(mail.mails.at(-1), { to: ["anna@example.org"] });
  t.match(mail.mails.at(-1)?.text, "Subject: [site-a] done");
  await t.rejects(running.ask("mail", listTargets, {}), { code: "unknown_operation" });
  for (const [wrong, code] of [
    [{ ...toAnna, to: "a@b, c@d" }, "invalid_request"],
    [{ ...toAnna, to: "a@b\r\nBcc: c@d" }, "invalid_request"],
    [{ ...toAnna, text: "x".repeat(20_000) }, "invalid_request"],
    [{ ...toAnna, text: "x".repeat(200_000) }, "request_too_long"],
  ] as const)
    await t.rejects(running.ask("mail", mailToPerson, wrong), { code });
  const count = mail.mails.length;
  await running.stop("SIGKILL");
  await running.start();
  await sleep(1_500);
  t.equal(mail.mails.length, count, "nobody hears of it twice");
  t.same(await running.stop(), [0, null]);
});
