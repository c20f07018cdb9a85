import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { CertificateAuthority } from "../../src/ca/certificate-authority.ts";
import {
  customersCertificate,
  giveUpCustomers,
  hasCustomersCertificate,
  keepNext,
  putInForce,
  showCustomers,
  writeTrust,
} from "../../src/ca/door-certificate.ts";
import type { DoorCertificate } from "../../src/ca/decisions/evaluate-certificate.ts";
import { Layout } from "@resontech/frame/layout";

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root gives files to others" };
const WEEK_MS = 7 * 86_400_000;

/** Stands for a customer's: what it says is not looked at here but for its life. */
async function brought(t: Test, name: string): Promise<DoorCertificate> {
  const folder = join(t.testdirName, name);
  mkdirSync(folder, { recursive: true });
  const ca = new CertificateAuthority(folder);
  await ca.ensureRoot(name);
  await ca.ensureServer(folder, { uid: 0, gid: 0 }, "server", ["gpu.hospital.example"]);
  const read = (file: string): string => readFileSync(join(folder, file), "utf8");
  return {
    ...{ chain: read("server.crt"), key: read("server.key"), ca: read("root.crt") },
    ...{ certSha256: "", caSha256: "", endsAt: 0 },
  };
}

async function appliance(t: Test): Promise<{ layout: Layout; root: string }> {
  const layout = new Layout(t.testdir({ etc: {} }), "x");
  await new CertificateAuthority(layout.caDir).ensureRoot("appliance");
  writeTrust(layout);
  return { layout, root: readFileSync(layout.rootCert, "utf8") };
}
const trust = (layout: Layout): string => readFileSync(layout.trustCert, "utf8");
const joined = (...pems: string[]): string =>
  pems.map((pem) => (pem.endsWith("\n") ? pem : `${pem}\n`)).join("");

t.test(
  "an authority is trusted before its certificate is shown, and both beside the root",
  asRoot,
  async (t) => {
    const { layout, root } = await appliance(t);
    t.equal(trust(layout), joined(root), "without a customer's there is the root alone");
    const first = await brought(t, "first");
    keepNext(layout, first);
    t.equal(trust(layout), joined(root, first.ca));
    t.equal(customersCertificate(layout), null, "not shown yet");
    putInForce(layout);
    t.match(customersCertificate(layout), { chain: first.chain, key: first.key });
    t.equal(trust(layout), joined(root, first.ca));
    t.equal(statSync(layout.doorCertificate()).mode & 0o777, 0o700);
    t.equal(statSync(layout.doorCertificate("door.key")).mode & 0o777, 0o400);

    const second = await brought(t, "second");
    keepNext(layout, second);
    t.equal(trust(layout), joined(root, first.ca, second.ca), "both meanwhile");
    t.match(customersCertificate(layout), { chain: first.chain });
    putInForce(layout);
    t.match(customersCertificate(layout), { chain: second.chain, key: second.key });
    t.equal(trust(layout), joined(root, second.ca, first.ca));
    writeTrust(layout, Date.now() + WEEK_MS + 60_000);
    t.equal(trust(layout), joined(root, second.ca), "that of before ends after a week");
  },
);

t.test(
  "wherever the change breaks off, a pair of certificate and key is shown, or the appliance's own",
  asRoot,
  async (t) => {
    const { layout } = await appliance(t);
    const [first, second] = [await brought(t, "a"), await brought(t, "b")];
    keepNext(layout, first);
    putInForce(layout);
    keepNext(layout, second);
    // As if it ended right after the key was moved.
    const file = (name: string): string => layout.doorCertificate(name);
    rmSync(file("door.crt"));
    renameSync(file("next.key"), file("door.key"));
    t.equal(customersCertificate(layout), null);
    putInForce(layout);
    t.match(customersCertificate(layout), { chain: second.chain, key: second.key });
    putInForce(layout);
    t.match(customersCertificate(layout), { chain: second.chain }, "again changes nothing");
  },
);

t.test(
  "one whose life is over is not shown, and the appliance's own comes back at a word",
  asRoot,
  async (t) => {
    const { layout, root } = await appliance(t);
    const first = await brought(t, "first");
    keepNext(layout, first);
    putInForce(layout);
    t.equal(customersCertificate(layout, Date.now() + 398 * 86_400_000), null);
    t.equal(hasCustomersCertificate(layout), true);
    giveUpCustomers(layout);
    t.equal(hasCustomersCertificate(layout), false);
    t.equal(trust(layout), joined(root, first.ca), "clients of it are not cut off at once");
    const old = new Date(Date.now() - WEEK_MS - 60_000);
    utimesSync(layout.doorCertificate("before.crt"), old, old);
    writeTrust(layout);
    t.equal(trust(layout), joined(root));
  },
);

t.test("a door's own folder has the customer's pair, for its group alone", asRoot, async (t) => {
  const folder = t.testdir({ "server.crt": "own" });
  const owner = { uid: 0, gid: 64_106 };
  showCustomers(folder, owner, { chain: "chain", key: "key" });
  t.equal(readFileSync(join(folder, "server.crt"), "utf8"), "chain");
  const { mode, gid, ino } = statSync(join(folder, "server.key"));
  t.same([mode & 0o777, gid], [0o440, 64_106]);
  showCustomers(folder, owner, { chain: "chain", key: "key" });
  t.equal(statSync(join(folder, "server.key")).ino, ino, "what is there stays");
  writeFileSync(join(folder, "server.crt"), "other");
  showCustomers(folder, owner, { chain: "chain", key: "key" });
  t.equal(readFileSync(join(folder, "server.crt"), "utf8"), "chain");
});
