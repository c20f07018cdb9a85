import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hash } from "node:crypto";
import { join } from "node:path";
import t, { type Test } from "tap";
import { DoorTrust } from "../../src/join/door-trust.ts";
import { TestPki } from "@resontech/house/test-pki";

async function node(t: Test) {
  const dir = t.testdir({ data: {}, certs: {} });
  const [own, customers, next] = await Promise.all(
    ["own", "customers", "next"].map((name) => TestPki.make(join(dir, name), "127.0.0.1")),
  );
  const rootCertFile = join(dir, "root.crt");
  const given = (...pems: string[]): void => writeFileSync(rootCertFile, pems.map(line).join(""));
  const config = { rootCertFile, dataDir: join(dir, "data"), registryCertsDir: join(dir, "certs") };
  const engines = join(dir, "certs", "door-ca.crt");
  return {
    own: own!.rootPem,
    customers: customers!.rootPem,
    next: next!.rootPem,
    given,
    config,
    engines,
  };
}
const line = (pem: string): string => `${pem.trim()}\n`;

t.test("an appliance without a customer's certificate is trusted by its root alone", async (t) => {
  const { own, given, config, engines } = await node(t);
  given(own);
  const trust = new DoorTrust(config);
  t.equal(trust.ca, line(own));
  t.equal(trust.sha256, hash("sha256", ""));
  t.notOk(existsSync(engines));
});

t.test("who vouches for the doors vouches neither for the bus nor for nodes", async (t) => {
  const { own, customers, given, config, engines } = await node(t);
  given(own, customers);
  const trust = new DoorTrust(config);
  t.equal(trust.root, line(own));
  t.equal(trust.ca, line(own) + line(customers));
  t.equal(readFileSync(engines, "utf8"), trust.ca, "the container engine is told as well");
});

t.test(
  "what the coordinator tells is kept, counts at once and after a restart, and is taken back",
  async (t) => {
    const { own, customers, next, given, config, engines } = await node(t);
    given(own);
    const trust = new DoorTrust(config);
    trust.take(line(customers) + line(next));
    t.equal(trust.ca, line(own) + line(customers) + line(next));
    t.equal(trust.sha256, hash("sha256", line(customers) + line(next)));
    t.equal(readFileSync(engines, "utf8"), trust.ca);
    t.equal(new DoorTrust(config).ca, trust.ca);
    trust.take("");
    t.equal(trust.ca, line(own));
    t.equal(new DoorTrust(config).ca, line(own), "also where the node was given it");
    t.equal(readFileSync(engines, "utf8"), line(own));
  },
);

t.test("what is no certificates changes nothing", async (t) => {
  const { own, customers, given, config } = await node(t);
  given(own);
  const trust = new DoorTrust(config);
  for (const wrong of [
    "none",
    `${line(customers)}words\n`,
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
  ])
    t.throws(() => trust.take(wrong));
  t.equal(trust.ca, line(own));
  t.equal(new DoorTrust(config).ca, line(own));
});

t.test("a folder of the engine that is not there is not made", async (t) => {
  const { own, customers, given, config } = await node(t);
  given(own, customers);
  const registryCertsDir = join(config.dataDir, "none");
  void new DoorTrust({ ...config, registryCertsDir });
  t.notOk(existsSync(registryCertsDir));
  mkdirSync(registryCertsDir);
  void new DoorTrust({ ...config, registryCertsDir });
  t.ok(existsSync(join(registryCertsDir, "door-ca.crt")));
});
