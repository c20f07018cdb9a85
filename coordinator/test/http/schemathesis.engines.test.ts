/** schemathesis reads the API's own description and tries what it allows, and what it does not, with a key and without one. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import type { ControlReply } from "@resontech/contracts/control-protocol";
import { StepCache } from "@resontech/airgap/step-cache";
import { promisify } from "node:util";
import t from "tap";
import { RunningCoordinator } from "../helper/running-coordinator.ts";

const run = promisify(execFile);
const PACKAGE = "schemathesis==4.32.5";
/** Requests of each kind for an operation. */
const EXAMPLES = 12;
/** No vault runs here, and a search for a sealed value says so. */
const CONFIGURATION = `[[operations]]
include-path = "/api/audit/events"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]
`;
/** What no answer may be, whatever was asked. */
const CHECKS = ["not_a_server_error", "content_type_conformance", "response_schema_conformance"];

async function schemathesis(): Promise<string> {
  const cache = new StepCache(join(import.meta.dirname, "../../../.cache/test-venvs"));
  const venv = await cache.fetch("schemathesis", { PACKAGE }, async (into) => {
    await run("python3", ["-m", "venv", into]);
    await run(join(into, "bin", "python"), ["-m", "pip", "install", "--quiet", PACKAGE]);
  });
  return join(venv, "bin", "python");
}

const python = await schemathesis();
const coordinator = await RunningCoordinator.create();
t.teardown(() => coordinator[Symbol.asyncDispose]());
await coordinator.startSearch();
const added = await coordinator.control({ verb: "add-user", username: "fuzzed", admin: true });
const { platformKey } = added as Extract<ControlReply, { verb: "add-user" }>;

for (const [who, headers] of [
  ["with a key", ["--header", `Authorization: Bearer ${platformKey}`]],
  ["without a key", []],
] as const)
  t.test(`no answer is the server's fault or unlike its description, ${who}`, async (t) => {
    const args = [
      "-m",
      "schemathesis.cli",
      "run",
      `${coordinator.url}/api/openapi.json`,
      ...headers,
    ];
    const options = [
      "--checks",
      CHECKS.join(","),
      "--max-examples",
      String(EXAMPLES),
      "--seed",
      "7",
      "--no-color",
      "--phases",
      "examples,fuzzing",
    ];
    const { stdout, code } = await run(
      python,
      [...args, ...options, "--tls-verify", coordinator.s3.caFile],
      {
        env: { PATH: process.env["PATH"] ?? "", REQUESTS_CA_BUNDLE: coordinator.s3.caFile },
        // It keeps what it found in its folder, and finds its configuration there.
        cwd: t.testdir({ "schemathesis.toml": CONFIGURATION }),
        timeout: 300_000,
        maxBuffer: 64 * 1024 ** 2,
      },
    ).then(
      ({ stdout }) => ({ stdout, code: 0 }),
      (error: { stdout?: string; code?: number }) => ({
        stdout: error.stdout ?? "it did not run",
        code: error.code ?? -1,
      }),
    );
    t.equal(code, 0, stdout.slice(-6_000));
    t.match(stdout, /[1-9]\d* (?:passed|generated|test cases)/i, stdout.slice(-1_500));
  });
