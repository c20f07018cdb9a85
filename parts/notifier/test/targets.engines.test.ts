/** Each kind of target against a real server, and every way in which one says no. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SmtpTarget, SyslogTarget, WebhookTarget } from "../src/alert-targets.ts";
import t from "tap";
import { sendMail } from "../src/targets/send-mail.ts";
import { sendSyslog } from "../src/targets/send-syslog.ts";
import { sendWebhook, signatureOf } from "../src/targets/send-webhook.ts";
import { certificates } from "@resontech/house/test-certificates";
import { smtpServer, syslogServer, webhookServer } from "@resontech/house/alert-receivers";

const dir = t.testdir();
const pki = await certificates(join(dir, "pki"));
const others = await certificates(join(dir, "others"));
const secretsDir = join(dir, "secrets");
mkdirSync(secretsDir);
const files = { secretsDir, rootCertFile: pki.caFile };
writeFileSync(join(secretsDir, "mail.secret"), "the password\n");
writeFileSync(join(secretsDir, "hook.secret"), "the key");
copyFileSync(others.caFile, join(secretsDir, "other.ca.crt"));
const CLOSED_PORT = 9;

const mail = {
  to: ["ops@example.org", "two@example.org"],
  subject: "Größe",
  text: "Zeile\n.\nend\n",
};
const smtp = (port: number, more: Partial<SmtpTarget> = {}): SmtpTarget => ({
  ...{ kind: "smtp", name: "mail", host: "localhost", port, security: "starttls" },
  ...{ from: "appliance@example.org", to: ["ops@example.org"] },
  ...more,
});

t.test("mail goes by TLS, by STARTTLS and plain, with and without a password", async (t) => {
  for (const security of ["tls", "starttls", "plain"] as const) {
    const password = security === "plain" ? null : "the password";
    const server = await smtpServer(pki, { secure: security === "tls", password });
    const login = password === null ? {} : { username: "appliance" };
    await sendMail(smtp(server.port, { security, ...login }), files, mail);
    t.match(server.mails, [
      { from: "appliance@example.org", to: mail.to, user: password === null ? null : "appliance" },
    ]);
    t.match(server.mails[0]?.text, /Subject: =\?UTF-8\?/, "a subject in any language");
    t.match(server.mails[0]?.text, "Zeile");
    await server.close();
  }
});

t.test("a mail that is not taken says why, and nothing of the password", async (t) => {
  const server = await smtpServer(pki, { password: "another", refusedTo: ["two@example.org"] });
  const open = await smtpServer(pki, { refusedTo: ["two@example.org"] });
  const strange = await smtpServer(others);
  t.teardown(
    async () => void (await Promise.all([server, open, strange].map((one) => one.close()))),
  );
  const cases: [string, SmtpTarget][] = [
    ["login_refused", smtp(server.port, { username: "appliance" })],
    ["secret_missing", smtp(server.port, { username: "appliance", name: "none" })],
    ["refused", smtp(open.port)],
    ["untrusted", smtp(strange.port)],
    ["untrusted", smtp(open.port, { host: "127.0.0.1" })],
    ["unreachable", smtp(CLOSED_PORT)],
    ["not_found", smtp(open.port, { host: "mail.invalid" })],
    ["outside_perimeter", smtp(25, { host: "192.0.2.1" })],
  ];
  for (const [code, target] of cases) {
    const error = await sendMail(target, files, mail).then(
      () => null,
      (failure: Error) => failure,
    );
    t.match(error, { name: "DeliveryError", code }, `${code}: ${String(error)}`);
    t.notMatch(String(error?.stack), "the password");
  }
  await sendMail(smtp(strange.port, { caFile: "other.ca.crt" }), files, mail);
  t.equal(strange.mails.length, 1, "another authority, where the target names it");
});

t.test("a webhook's body is signed, and no redirect is followed", async (t) => {
  const server = await webhookServer(pki);
  t.teardown(() => server.close());
  const hook = (more: Partial<WebhookTarget> = {}): WebhookTarget => ({
    ...{ kind: "webhook", name: "hook", url: `https://localhost:${server.port}/alerts?of=a` },
    ...more,
  });
  const sent = { id: "id-1", body: '{"größe":1}', at: 1_700_000_000_500 };
  await sendWebhook(hook(), files, sent);
  t.match(server.posts, [
    {
      ...{ path: "/alerts?of=a", body: sent.body },
      headers: {
        "content-type": "application/json",
        "idempotency-key": "id-1",
        "x-resontech-timestamp": "1700000000",
        "x-resontech-signature": signatureOf("the key", "1700000000", sent.body),
      },
    },
  ]);
  for (const status of [302, 400, 500]) {
    server.answer.status = status;
    await t.rejects(sendWebhook(hook(), files, sent), { code: "refused" }, String(status));
  }
  t.equal(server.posts.length, 4, "each once");
  await t.rejects(sendWebhook(hook({ name: "none" }), files, sent), { code: "secret_missing" });
  const of = (url: string) => sendWebhook(hook({ url }), files, sent);
  await t.rejects(of(`https://127.0.0.1:${server.port}/`), { code: "untrusted" });
  await t.rejects(of(`https://localhost:${CLOSED_PORT}/`), { code: "unreachable" });
  await t.rejects(of("https://192.0.2.1/"), { code: "outside_perimeter" });
});

t.test("syslog is taken once the receiver has read to our end", async (t) => {
  const overTls = await syslogServer(pki);
  const overTcp = await syslogServer(null);
  const silent = await syslogServer(null, false);
  t.teardown(
    async () => void (await Promise.all([overTls, overTcp, silent].map((one) => one.close()))),
  );
  const syslog = (port: number, transport: "tls" | "tcp", host = "localhost"): SyslogTarget => ({
    ...{ kind: "syslog", name: "siem", host, port, transport },
  });
  const lines = ["<130>1 - - - - - - Größe", "<133>1 - - - - - - two"];
  await sendSyslog(syslog(overTls.port, "tls"), files, lines);
  await sendSyslog(syslog(overTcp.port, "tcp"), files, lines);
  t.same(overTls.lines, lines);
  t.same(overTcp.lines, lines);
  await t.rejects(sendSyslog(syslog(overTls.port, "tls", "127.0.0.1"), files, lines), {
    code: "untrusted",
  });
  await t.rejects(sendSyslog(syslog(CLOSED_PORT, "tcp"), files, lines), { code: "unreachable" });
  await t.rejects(sendSyslog(syslog(silent.port, "tcp"), files, lines), { code: "unconfirmed" });
});
