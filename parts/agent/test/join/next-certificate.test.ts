/** The files of a node's next certificate, with keys and certificates as a coordinator signs them. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { fetchNextCertificate, takeNextCertificate } from "../../src/join/next-certificate.ts";
import { makeNodeKey } from "../../src/join/node-key.ts";
import { TestPki } from "@resontech/house/test-pki";

async function joined(t: Test): Promise<{ dataDir: string; node: string; pki: TestPki }> {
  const dataDir = t.testdir({ pki: {} });
  const pki = await TestPki.make(join(dataDir, "pki"), "127.0.0.1");
  const { keyPem, csrPem } = await makeNodeKey("node-a");
  writeFileSync(join(dataDir, "node.key"), keyPem);
  writeFileSync(join(dataDir, "node.crt"), await pki.sign(csrPem, "node-a"));
  return { dataDir, node: "node-a", pki };
}

function read(dataDir: string): { certificate: string; isPair: boolean } {
  const certificate = readFileSync(join(dataDir, "node.crt"), "utf8");
  const key = createPrivateKey(readFileSync(join(dataDir, "node.key")));
  return { certificate, isPair: new X509Certificate(certificate).checkPrivateKey(key) };
}

t.test("the next one takes its place at a start, and with it a new key", async (t) => {
  const { dataDir, node, pki } = await joined(t);
  const before = read(dataDir);
  await fetchNextCertificate({ dataDir, node }, async (csr) => ({
    certChain: await pki.sign(csr, node),
  }));
  t.same(read(dataDir), before, "not while the agent runs");
  takeNextCertificate(dataDir);
  const after = read(dataDir);
  t.not(after.certificate, before.certificate);
  t.ok(after.isPair);
  takeNextCertificate(dataDir);
  t.same(read(dataDir), after);
});

t.test("cut between key and certificate it goes on; a key alone is given up", async (t) => {
  const { dataDir, node, pki } = await joined(t);
  await fetchNextCertificate({ dataDir, node }, async (csr) => ({
    certChain: await pki.sign(csr, node),
  }));
  renameSync(join(dataDir, "next-node.key"), join(dataDir, "node.key"));
  takeNextCertificate(dataDir);
  const { certificate, isPair } = read(dataDir);
  t.ok(isPair);
  writeFileSync(join(dataDir, "next-node.key"), "a key that nobody answered");
  takeNextCertificate(dataDir);
  t.notOk(existsSync(join(dataDir, "next-node.key")));
  t.equal(read(dataDir).certificate, certificate);
});

t.test("a certificate of another key changes nothing", async (t) => {
  const { dataDir, node, pki } = await joined(t);
  const before = read(dataDir);
  const other = await makeNodeKey(node);
  await t.rejects(
    fetchNextCertificate({ dataDir, node }, async () => ({
      certChain: await pki.sign(other.csrPem, node),
    })),
    /another key/,
  );
  takeNextCertificate(dataDir);
  t.same(read(dataDir), before);
});
