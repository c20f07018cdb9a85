import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import t from "tap";
import { serveAuthCallout } from "../../src/bus/auth-callout.ts";
import { connectBus, readSeed } from "../../src/bus/connect.ts";
import { CertificateAuthority, certificateSha256 } from "../../src/nodes/certificate-authority.ts";
import {
  makeForeignCertificate,
  makeSigningRequest,
  makeTestCa,
} from "../nodes/node-certificates.ts";
import { startNats } from "./nats-fixture.ts";

t.test("a node is its certificate, and may say and hear only what is its own", async (t) => {
  const dir = t.testdir();
  mkdirSync(`${dir}/ca`);
  const ca = await makeTestCa(`${dir}/ca`);
  const authority = await CertificateAuthority.load(ca);
  const nats = await startNats(dir, ca);
  t.after(() => nats[Symbol.asyncDispose]());
  const coordinator = await connectBus(nats.config);
  t.after(() => coordinator.close());

  const nodes = new Map<string, string>();
  const failures: unknown[] = [];
  serveAuthCallout({
    connection: coordinator,
    accountSeed: readSeed(nats.config.accountSeedFile),
    account: nats.config.account,
    admit: (leaf) => {
      const node = nodes.get(certificateSha256(leaf));
      const validUntil = authority.validUntil(leaf);
      return node === undefined || validUntil === null ? null : { node, validUntil };
    },
    onError: (error) => failures.push(error),
  });
  await coordinator.flush();

  const dial = async (name: string, known: boolean): Promise<NatsConnection> => {
    const { csrPem, keyPem } = await makeSigningRequest(name);
    const issued = await authority.signNode(name, csrPem);
    if (known) nodes.set(issued.sha256, name);
    const connection = await connect({
      servers: nats.url,
      tls: {
        ca: readFileSync(ca.rootCertFile, "utf8"),
        cert: issued.certPem + authority.intermediatePem,
        key: keyPem,
      },
      inboxPrefix: `_INBOX_${name}`,
      reconnect: false,
    });
    t.after(() => connection.close());
    return connection;
  };
  const a = await dial("node-a", true);
  const b = await dial("node-b", true);

  const heard: string[] = [];
  coordinator.subscribe("agent.>", {
    callback: (_error, message) => {
      heard.push(message.subject);
      message.respond(`to ${message.subject}`);
    },
  });
  await coordinator.flush();

  t.equal(
    (await a.request("agent.node-a.beat", "x", { timeout: 60_000 })).string(),
    "to agent.node-a.beat",
  );
  t.equal(
    (await b.request("agent.node-b.beat", "x", { timeout: 60_000 })).string(),
    "to agent.node-b.beat",
  );

  await t.test("it can't publish for another", async (t) => {
    a.publish("agent.node-b.report", "forged");
    // One connection keeps its order: what was published before this has been judged when it is answered.
    await a.request("agent.node-a.beat", "x", { timeout: 60_000 });
    t.notOk(heard.includes("agent.node-b.report"));
  });
  for (const subject of [
    "_INBOX_node-b.>",
    "agent.node-b.hint",
    "agent.>",
    ">",
    "$SYS.REQ.USER.AUTH",
  ]) {
    await t.test(`it can't hear ${subject}`, async (t) => {
      const { promise, resolve } = Promise.withResolvers<Error | null>();
      a.subscribe(subject, { callback: (error) => resolve(error) });
      t.match(String(await promise), /Permissions Violation for Subscription/i);
    });
  }
  await t.test("it hears its own hint", async (t) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    a.subscribe("agent.node-a.hint", { callback: (_error, message) => resolve(message.string()) });
    await a.flush();
    coordinator.publish("agent.node-a.hint", "fetch");
    t.equal(await promise, "fetch");
  });
  await t.test("a certificate of ours that no node has is refused", async (t) => {
    await t.rejects(dial("node-c", false), /authorization violation/i);
  });
  await t.test("a certificate that others signed does not get through the handshake", async (t) => {
    const foreign = await makeForeignCertificate("node-a");
    await t.rejects(
      connect({
        servers: nats.url,
        tls: {
          ca: readFileSync(ca.rootCertFile, "utf8"),
          cert: foreign.certPem,
          key: foreign.keyPem,
        },
        reconnect: false,
        timeout: 60_000,
      }),
    );
  });
  await t.test("without the callout service nobody is let in", async (t) => {
    await coordinator.close();
    await t.rejects(dial("node-d", true), /authorization violation|timeout/i);
  });
  t.same(failures, []);
  nats.process.kill("SIGTERM");
  await once(nats.process, "exit");
});
