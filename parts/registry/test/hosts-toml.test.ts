import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { writeHostsToml } from "../src/hosts-toml.ts";

const mirror = { url: "https://box.example:5000", caFile: '/etc/resontech/ca "1".crt' };

t.test("every upstream, and every other one, is the mirror: there is no fallback", async (t) => {
  const dir = t.testdir();
  writeHostsToml(dir, ["docker.io", "registry.k8s.io", "localhost:5000", "docker.io"], mirror);
  t.strictSame(readdirSync(dir).sort(), [
    "_default",
    "docker.io",
    "localhost:5000",
    "registry.k8s.io",
  ]);
  const file = join(dir, "docker.io", "hosts.toml");
  t.equal(
    readFileSync(file, "utf8"),
    [
      'server = "https://box.example:5000"',
      'ca = "/etc/resontech/ca \\"1\\".crt"',
      "",
      '[host."https://box.example:5000"]',
      '  capabilities = ["pull", "resolve"]',
      '  ca = "/etc/resontech/ca \\"1\\".crt"',
      "",
    ].join("\n"),
  );
  t.equal(statSync(file).mode & 0o777, 0o644);
});

t.test("a name that is no registry host writes nothing outside", async (t) => {
  for (const upstream of ["../evil", "a/b", "", ".", "UPPER", "host:port", "x".repeat(300)])
    t.throws(
      () => writeHostsToml(t.testdir(), [upstream], mirror),
      { code: "upstream_invalid" },
      JSON.stringify(upstream),
    );
});
