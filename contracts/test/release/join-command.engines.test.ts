/** The command that is pasted on a new host, run by a real shell against stand-ins for curl and the script. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { type JoinFacts, joinCommand, scriptForMedium } from "../../src/release/join-command.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const ROOT = "the root certificate\n";
const SCRIPT = '#!/bin/sh\nprintf "%s\\n" "$@" >"$SAID"\nexit 4\n';
const facts: JoinFacts = {
  ...{ node: "gpu-2", appliance: "gpu.example" },
  ports: { api: 8000, s3: 3900, registry: 5000, nats: 4222 },
  ...{ rootSha256: sha256(ROOT), keySha256: "b".repeat(64), scriptSha256: sha256(SCRIPT) },
};

/** Runs the command on a host whose curl answers with these files. */
function run(dir: string, files: { root: string; script: string }, ...more: string[]) {
  for (const folder of ["bin", "tmp", "served"]) mkdirSync(join(dir, folder), { recursive: true });
  writeFileSync(join(dir, "served", "root"), files.root);
  writeFileSync(join(dir, "served", "script"), files.script);
  const curl = `#!/bin/sh
for last; do :; done
printf '%s\\n' "$*" >>${dir}/asked
while [ "$1" != -o ]; do shift; done
case $last in */root.crt) cp ${dir}/served/root "$2" ;; *) cp ${dir}/served/script "$2" ;; esac
`;
  writeFileSync(join(dir, "bin", "curl"), curl);
  chmodSync(join(dir, "bin", "curl"), 0o755);
  const command = `${joinCommand(facts)} ${more.join(" ")}`;
  const { status, stderr } = spawnSync("sh", ["-c", command], {
    encoding: "utf8",
    env: {
      PATH: `${join(dir, "bin")}:/usr/bin:/bin`,
      TMPDIR: join(dir, "tmp"),
      SAID: join(dir, "said"),
    },
  });
  return { status, stderr, left: readdirSync(join(dir, "tmp")) };
}

t.test(
  "it runs the script that it names, with what that needs and with options of the person",
  async (t) => {
    const dir = t.testdir();
    const ran = run(dir, { root: ROOT, script: SCRIPT }, "--root", "/srv/node");
    t.same(ran, { status: 4, stderr: "", left: [] }, "the script's own status is told");
    t.same(readFileSync(join(dir, "said"), "utf8").trimEnd().split("\n"), [
      ...["--appliance", "gpu.example", "--ports", "8000,3900,5000,4222", "--node", "gpu-2"],
      ...["--root-sha256", facts.rootSha256, "--key-sha256", facts.keySha256],
      ...["--root", "/srv/node"],
    ]);
    const asked = readFileSync(join(dir, "asked"), "utf8").trimEnd().split("\n");
    t.match(asked[0], / -k .*https:\/\/gpu\.example:8000\/node\/v1\/root\.crt$/);
    t.match(
      asked[1],
      /--cacert root\.crt/,
      "all else comes over a connection that the root vouches for",
    );
    t.notMatch(asked[1], / -k /);
  },
);

t.test("it runs nothing of an appliance with another root, or another script", async (t) => {
  const dir = t.testdir();
  for (const files of [
    { root: "another", script: SCRIPT },
    { root: ROOT, script: `${SCRIPT}#` },
  ]) {
    const ran = run(dir, files);
    t.match(ran, { status: 3, stderr: /^refused: the SHA-256 of/, left: [] });
    t.notOk(readdirSync(dir).includes("said"));
  }
});

t.test("the script on a medium is told the same, so that its SHA-256 stands for all", async (t) => {
  const dir = t.testdir({ "join-node.sh": scriptForMedium(SCRIPT, facts) });
  const said = join(dir, "said");
  spawnSync("sh", [join(dir, "join-node.sh"), "--dry-run"], {
    env: { PATH: "/usr/bin:/bin", SAID: said },
  });
  t.equal(
    readFileSync(said, "utf8").trimEnd().split("\n").join(" "),
    `--appliance gpu.example --ports 8000,3900,5000,4222 --node gpu-2 --root-sha256 ${facts.rootSha256} --key-sha256 ${facts.keySha256} --dry-run`,
  );
});
