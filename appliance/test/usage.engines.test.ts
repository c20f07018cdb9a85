/** What `appliance` says to whoever uses it wrongly: what is wrong, and the form that is allowed. */
import { spawnSync } from "node:child_process";
import t from "tap";
import { shippedProgram } from "@resontech/house/shipped-program";

const MAIN = shippedProgram("appliance");

function appliance(args: readonly string[], uid = 0) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    encoding: "utf8",
    uid,
    cwd: "/",
  });
  return { status, stdout, stderr };
}

t.test("wrong arguments are told with what is allowed, exit code 2", async (t) => {
  for (const [args, said] of [
    [["join-token", "gpu-1", "--ttl", "abc"], /seconds from 1 to 86400 are meant/],
    [["key", "renew", "k_1", "--days", "0"], /days from 1 to 366 are meant/],
    [["user", "quota", "alice", "much"], /size "much": a number and B, KB, MB/],
    [["logs", "-n", "-1"], /a number of lines from 0/],
    [["nonsense"], /unknown command 'nonsense'/],
    [["job", "cancel", "job-1"], /--reason <text>' not specified/],
  ] as const) {
    const { status, stderr } = appliance(args);
    t.equal(status, 2, args.join(" "));
    t.match(stderr, said);
  }
});

t.test("another user is told to be root, and a wrong root which folder is meant", async (t) => {
  const other = appliance(["status"], 65_534);
  t.equal(other.status, 1);
  t.match(other.stderr, /must be run as root/);
  const wrong = appliance(["--root", t.testdir(), "status"]);
  t.equal(wrong.status, 1);
  t.match(
    wrong.stderr,
    /no appliance is installed here: .*etc\/appliance\.json is missing; --root must name/s,
  );
});

t.test("the version is told, and help of every group has an example", async (t) => {
  t.match(appliance(["--version"]), { status: 0, stdout: /\S/ });
  for (const group of ["key", "user", "job", "node"])
    t.match(appliance([group, "--help"]).stdout, /Examples:/, group);
  t.match(appliance(["--help"]).stdout, /Exit codes/);
});
