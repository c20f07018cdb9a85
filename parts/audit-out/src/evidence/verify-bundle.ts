/** What the verifier of the release says of a bundle: the program that auditors have from the vendor, run as they run it. */
import { execFile } from "node:child_process";
import type { LogPeriod } from "@resontech/audit/export/log-period";
import { ConfigError } from "../config.ts";

/** @property nonce 32 bytes in hex @property count of entries for each bundle */
export type SampleRequest = { nonce: string; count: number };

/** As `sov-verify.mjs --json` says it; what a pack reads of it. */
export type BundleReport = {
  exitCode: number;
  refused: string | null;
  verdicts: Record<string, { verdict: string; reason: string; index?: number }>;
  lapses: readonly unknown[] | null;
  sample?: { filter: string; population: number; entries: number[] };
};

const MAX_REPORT_BYTES = 67_108_864;

/** Heartbeats come once a minute, and would be nearly all that is drawn. */
export function sampleFilter({ from, to }: LogPeriod): string {
  return [
    "type=!audit.heartbeat",
    ...(from === null ? [] : [`from=${from}`]),
    ...(to === null ? [] : [`to=${to}`]),
  ].join(",");
}

/** @returns the report, and its text @throws ConfigError where the program says none */
export async function verifyBundle(
  verifierFile: string,
  bundle: string,
  policyFile: string,
  period: LogPeriod,
  sample: SampleRequest | null,
): Promise<BundleReport> {
  const drawn =
    sample === null
      ? []
      : [
          ...["--nonce", sample.nonce, "--sample", String(sample.count)],
          ...["--filter", sampleFilter(period)],
        ];
  const args = [verifierFile, bundle, "--policy", policyFile, "--json", ...drawn];
  const text = await new Promise<string>((resolve, reject) => {
    execFile(
      process.execPath,
      args,
      { encoding: "utf8", maxBuffer: MAX_REPORT_BYTES },
      // Its exit code is a verdict, and stands in the report.
      (error, stdout, stderr) =>
        stdout === ""
          ? reject(new ConfigError(stderr || (error?.message ?? "the verifier says nothing")))
          : resolve(stdout),
    );
  });
  return JSON.parse(text) as BundleReport;
}
