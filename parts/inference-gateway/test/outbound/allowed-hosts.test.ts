import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { AllowedHosts } from "../../src/outbound/allowed-hosts.ts";

t.test("the list holds at once, and one that can't be read allows nobody", async (t) => {
  const file = join(t.testdir(), "outbound.json");
  const errors: unknown[] = [];
  const hosts = new AllowedHosts(file, (error) => errors.push(error));
  t.equal(hosts.find("a.example", 443), null, "there is no list");
  const one = { host: "a.example", port: 443 };
  writeFileSync(file, JSON.stringify({ formatVersion: 1, hosts: [one] }));
  t.same(hosts.find("a.example", 443), one);
  for (const [host, port] of [
    ["a.example", 8443],
    ["b.a.example", 443],
    ["a.example.", 443],
  ] as const)
    t.equal(hosts.find(host, port), null, `${host}:${port}`);
  for (const broken of [
    "{",
    '{"formatVersion":2,"hosts":[]}',
    JSON.stringify({ formatVersion: 1, hosts: [one, { ...one, networks: ["10.0.0.0/99"] }] }),
  ]) {
    writeFileSync(file, broken);
    t.equal(hosts.find("a.example", 443), null, broken);
    t.equal(hosts.find("a.example", 443), null);
  }
  t.equal(errors.length, 3, "each is told once");
  writeFileSync(file, JSON.stringify({ formatVersion: 1, hosts: [one] }));
  t.same(hosts.find("a.example", 443), one);
  rmSync(file);
  t.equal(hosts.find("a.example", 443), null, "it is gone");
});
