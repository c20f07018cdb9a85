/** The release's offline verifier on a shard of a backup: what it would say to an auditor decides. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { BackupError } from "@resontech/backup/backup-error";

/** Whatever else an auditor asks of a log, without these it is none. */
const MUST_PASS = ["SIGNATURE", "INTEGRITY"] as const;
const MAX_REPORT_CHARACTERS = 8 * 1024 ** 2;

type Report = {
  refused?: unknown;
  verdicts: Record<string, { verdict: string; reason?: string } | undefined>;
};

export type Verifier = {
  /** The release's Node, and arguments before the verifier's file. */
  node: readonly string[];
  program: string;
  policyFile: string;
};

/** @param file an export @throws BackupError `backup_damaged` */
export async function checkLogArchive(verifier: Verifier, file: string): Promise<void> {
  const [node = "", ...before] = verifier.node;
  const args = [...before, verifier.program, "--json", "--policy", verifier.policyFile, file];
  const child = spawn(node, args, { stdio: ["ignore", "pipe", "pipe"], cwd: "/" });
  let [out, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    if (out.length > MAX_REPORT_CHARACTERS) child.kill("SIGKILL");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  await once(child, "close");
  const objection = objectionOf(reportIn(out));
  if (objection !== null)
    throw new BackupError(
      "backup_damaged",
      `the verifier does not accept the log of the backup: ${objection} ${errors.trim()}`.trim(),
    );
}

/** Says what stands against the log; null where it is whole and signed by the keys of its policy. */
function objectionOf(report: Report | null): string | null {
  if (report === null) return "it gave no report";
  for (const name of MUST_PASS) {
    const { verdict = "missing", reason = "" } = report.verdicts[name] ?? {};
    if (verdict !== "PASS") return `${name} ${verdict} ${reason}`.trim();
  }
  const appendOnly = report.verdicts["APPEND-ONLY"];
  return appendOnly?.verdict === "FAIL" ? `APPEND-ONLY FAIL ${appendOnly.reason ?? ""}` : null;
}

function reportIn(text: string): Report | null {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return null;
  }
}
