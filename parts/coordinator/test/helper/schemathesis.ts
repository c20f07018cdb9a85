/** schemathesis reads the API's own description and tries what it allows, and what it does not. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { StepCache } from "@resontech/airgap/step-cache";
import type { RunningCoordinator } from "./running-coordinator.ts";

const run = promisify(execFile);
const PACKAGE = "schemathesis==4.32.5";
const HOOKS = join(import.meta.dirname, "schemathesis_hooks.py");
/**
 * No vault runs beside a coordinator of a test, and a search for a sealed value says so; nor does Keycloak, without which nobody begins or ends
 * a sign-in; nor Prometheus, which has what was before.
 */
const CONFIGURATION = `[generation]
# Who asks is said by the headers alone: a credential that is made up would stand in for theirs.
with-security-parameters = false
[[operations]]
include-path-regex = "^/api/audit/(events|proofs|questions/.+)$"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]
[[operations]]
include-path-regex = "^/(auth/|api/approvals)"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]
[[operations]]
include-path-regex = "^/api/((.+/)?use|appliance/(alerts|disks))$"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]
`;
/** What no answer may be, whatever was asked. */
const CHECKS = ["not_a_server_error", "content_type_conformance", "response_schema_conformance"];

/** Python with schemathesis, installed once. */
async function schemathesis(): Promise<string> {
  const cache = new StepCache(join(import.meta.dirname, "../../../../.cache/test-venvs"));
  const venv = await cache.fetch("schemathesis", { PACKAGE }, async (into) => {
    await run("python3", ["-m", "venv", into]);
    await run(join(into, "bin", "python"), ["-m", "pip", "install", "--quiet", PACKAGE]);
  });
  return join(venv, "bin", "python");
}

/** What came of it: the exit code is 0 where no answer was wrong. */
export type TriedSchemas = {
  code: number;
  output: string;
  /** Operations, each with how often which status answered it. */
  answers: ReadonlyMap<string, ReadonlyMap<number, number>>;
};

/**
 * @param headers of every request, which say who asks
 * @param examples requests of each kind for an operation
 * @param ownKey id of the key among them
 */
export async function trySchemas(
  coordinator: RunningCoordinator,
  headers: Readonly<Record<string, string>>,
  examples: number,
  ownKey = "",
): Promise<TriedSchemas> {
  const python = await schemathesis();
  // It keeps what it found in its folder, and finds its configuration there.
  const folder = mkdtempSync(join(tmpdir(), "rt-schemas-"));
  writeFileSync(join(folder, "schemathesis.toml"), CONFIGURATION);
  const answers = join(folder, "answers");
  writeFileSync(answers, "");
  try {
    const { code, output } = await said(
      python,
      [
        ...["-m", "schemathesis.cli", "run", `${coordinator.url}/api/openapi.json`],
        ...Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]),
        ...["--checks", CHECKS.join(","), "--max-examples", String(examples)],
        ...["--seed", "7", "--no-color", "--phases", "examples,fuzzing"],
        // A session that signs itself out would ask for nothing any more.
        ...["--exclude-path-regex", "^/auth/sign-out"],
        ...["--tls-verify", coordinator.s3.caFile],
      ],
      {
        PATH: process.env["PATH"] ?? "",
        REQUESTS_CA_BUNDLE: coordinator.s3.caFile,
        ...{ SCHEMATHESIS_HOOKS: HOOKS, RT_ANSWERS: answers, RT_OWN_KEY: ownKey },
        PYTHONDONTWRITEBYTECODE: "1",
      },
      folder,
    );
    return { code, output, answers: countAnswers(readFileSync(answers, "utf8")) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function said(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<{ code: number; output: string }> {
  const options = { env, cwd, timeout: 300_000, maxBuffer: 64 * 1024 ** 2 };
  try {
    return { code: 0, output: (await run(program, args, options)).stdout };
  } catch (error) {
    const { stdout = "it did not run", code = -1 } = error as { stdout?: string; code?: number };
    return { code, output: stdout };
  }
}

function countAnswers(lines: string): Map<string, Map<number, number>> {
  const counts = new Map<string, Map<number, number>>();
  for (const line of lines.split("\n").filter((one) => one !== "")) {
    const [operation, status] = JSON.parse(line) as [string, number];
    const of = counts.get(operation) ?? new Map<number, number>();
    counts.set(operation, of.set(status, (of.get(status) ?? 0) + 1));
  }
  return counts;
}

/** Operations that this status answered at least once. */
export function operationsAnswered({ answers }: TriedSchemas, status: number): string[] {
  return [...answers].flatMap(([operation, of]) => (of.has(status) ? [operation] : []));
}
