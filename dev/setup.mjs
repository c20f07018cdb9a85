#!/usr/bin/env node
// Set-up on a bare machine: plain JavaScript, because the host's Node may be 20, which can't run `.ts`.
// Usage: node dev/setup.mjs [SCRIPT.ts [args…]]   prepares everything, then hands over to the pinned Node.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { refusalOfClone } from "./clone-path.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const startedAt = Date.now();
const seconds = (from) => ((Date.now() - from) / 1000).toFixed(1);
const say = (line) => process.stderr.write(`[setup ${seconds(startedAt).padStart(6)} s] ${line}\n`);

/** Debian packages that the product's engines or its builder run; each is there on a customer's host too, or named by preflight. */
const DEBIAN_PACKAGES = [
  "podman",
  "runc",
  "conmon",
  "netavark",
  "aardvark-dns",
  // netavark calls it for every network, internal ones included.
  "iptables",
  "skopeo",
  "nftables",
  "iproute2",
  "util-linux",
  "e2fsprogs",
  "mmdebstrap",
  "debian-archive-keyring",
  "uidmap",
  "zstd",
  "openssl",
  "python3-venv",
  // The binding to PKCS#11 modules is compiled; a token in software stands for those of others.
  "g++",
  "make",
  "softhsm2",
  // The same for a TPM: systemd-creds seals with it.
  "swtpm",
  "tpm2-tools",
  "libtss2-tcti-swtpm0",
  "libtss2-rc0",
  // A customer's directory.
  "slapd",
  "ldap-utils",
  // Pages are tested in it.
  "chromium-headless-shell",
  // What a person sits before: the command line is tested in them.
  "tmux",
  "zsh",
];

/** What one proof alone needs. */
const PACKAGES_OF_PROOFS = {
  "audit-versions": ["chromium"],
  "audit-export": ["rsyslog", "rsyslog-openssl"],
  "s3-clients": ["awscli", "s3cmd", "s3fs", "fuse3", "rclone"],
};

const [script, ...args] = process.argv.slice(2);

function fail(what, remedy) {
  process.stderr.write(`\nset-up stopped: ${what}\n  what to do: ${remedy}\n`);
  process.exit(1);
}

const refusal = refusalOfClone(root);
if (refusal !== null) fail(refusal, "clone it again to a path without that, of at most 160 bytes");

function run(command, args, options = {}) {
  const done = spawnSync(command, args, { stdio: ["ignore", 2, 2], cwd: root, ...options });
  if (done.status !== 0)
    fail(
      `\`${command} ${args.join(" ")}\` ended with ${done.status ?? done.signal}`,
      "read its output above and run this again",
    );
}

const found = (command) =>
  (process.env.PATH ?? "").split(delimiter).some((dir) => {
    try {
      accessSync(join(dir, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

function checkHost() {
  if (process.getuid?.() !== 0)
    fail(
      "this needs root: it installs packages, mounts job file systems and starts containers",
      "run it as root",
    );
  const [major] = process.versions.node.split(".").map(Number);
  if (major < 20)
    fail(`Node ${process.version} is too old to start with`, "install Node 20 or newer");
  const needs = {
    git: "git",
    npm: "npm",
    go: "Go 1.26 or newer",
    java: "a JDK 17 or newer",
    mvn: "Maven",
    python3: "Python 3.11 with venv",
    gcc: "gcc",
    "apt-get": "Debian 12",
  };
  const missing = Object.entries(needs).filter(([command]) => !found(command));
  if (missing.length > 0)
    fail(
      `missing on this machine: ${missing.map(([, name]) => name).join(", ")}`,
      "install them and run this again",
    );
}

function installPackages() {
  const ofProof = script === "proofs/main.ts" ? PACKAGES_OF_PROOFS[args[0]] : undefined;
  const missing = [...DEBIAN_PACKAGES, ...(ofProof ?? [])].filter((name) => {
    const asked = spawnSync("dpkg-query", ["-W", "-f", "${db:Status-Status}", name], {
      encoding: "utf8",
    });
    return asked.status !== 0 || asked.stdout !== "installed";
  });
  if (missing.length === 0) return 0;
  say(`installing ${missing.length} Debian packages: ${missing.join(" ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const quiet = ["-qq", "-o", "Dpkg::Use-Pty=0"];
  const from = Date.now();
  run("apt-get", [...quiet, "update"], { env });
  run(
    "apt-get",
    [...quiet, "install", "-y", "--no-install-recommends", "--download-only", ...missing],
    { env },
  );
  const downloadMs = Date.now() - from;
  run("apt-get", [...quiet, "install", "-y", "--no-install-recommends", ...missing], {
    env,
    stdio: ["ignore", "ignore", 2],
  });
  return downloadMs;
}

function installNodeModules() {
  const digest = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  const stamp = join(root, "node_modules", ".resontech-lock-sha256");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  say("installing the locked npm packages");
  // A half-installed tree must not look finished: the stamp goes first and comes back last.
  rmSync(stamp, { force: true });
  // Not `npm ci`: it refuses a lock without the optional packages of platforms that a registry does not serve. Versions and integrity still
  // come from the lock, which is not written.
  run("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"]);
  // The test runner generates its test class for the plugins of .taprc: its own TypeScript compiler is off, Node strips the types.
  run(join(root, "node_modules", ".bin", "node"), [
    join(root, "node_modules", "tap", "dist", "esm", "run.mjs"),
    "build",
  ]);
  writeFileSync(stamp, digest);
}

checkHost();
/** Unit tests start no process: they run on a host that has Node, npm and git. */
const isUnitRun = script === "dev/test.ts" && args.join(" ") === "--tier unit";
const aptDownloadMs = isUnitRun ? 0 : installPackages();
installNodeModules();
mkdirSync(join(root, ".cache"), { recursive: true });
say("the machine is ready");

if (script) {
  const node = join(root, "node_modules", ".bin", "node");
  const env = {
    ...process.env,
    PATH: `${join(root, "node_modules", ".bin")}${delimiter}${process.env.PATH ?? ""}`,
    RT_SETUP_MS: String(Date.now() - startedAt),
    RT_SETUP_DOWNLOAD_MS: String(aptDownloadMs),
  };
  // Ctrl-C reaches that program as well: it ends in its own way, and this one after it.
  process.on("SIGINT", () => undefined);
  const done = spawnSync(
    node,
    ["--disable-warning=ExperimentalWarning", join(root, script), ...args],
    { stdio: "inherit", env },
  );
  process.exit(done.status ?? 1);
}
