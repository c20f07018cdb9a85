/** schemathesis reads the API's own description and tries what it allows, and what it does not. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { StepCache } from "@resontech/airgap/step-cache";
import type { RunningCoordinator } from "./running-coordinator.ts";

const run = promisify(execFile);
const PACKAGE = "schemathesis==4.32.5";
/**
 * No vault runs beside a coordinator of a test, and a search for a sealed value says so; nor does Keycloak, without which nobody begins or ends
 * a sign-in; nor Prometheus, which has what was before.
 */
const CONFIGURATION = `[[operations]]
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

/**
 * @param headers of every request, which say who asks
 * @param examples requests of each kind for an operation
 * @returns exit code, 0 where no answer was wrong, and what it printed
 */
export async function trySchemas(
  coordinator: RunningCoordinator,
  headers: Readonly<Record<string, string>>,
  examples: number,
): Promise<{ code: number; output: string }> {
  const python = await schemathesis();
  // It keeps what it found in its folder, and finds its configuration there.
  const folder = mkdtempSync(join(tmpdir(), "rt-schemas-"));
  writeFileSync(join(folder, "schemathesis.toml"), CONFIGURATION);
  try {
    const { stdout } = await run(
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
        env: { PATH: process.env["PATH"] ?? "", REQUESTS_CA_BUNDLE: coordinator.s3.caFile },
        ...{ cwd: folder, timeout: 300_000, maxBuffer: 64 * 1024 ** 2 },
      },
    );
    return { code: 0, output: stdout };
  } catch (error) {
    const { stdout = "it did not run", code = -1 } = error as { stdout?: string; code?: number };
    return { code, output: stdout };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
