import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EmbeddingsSpec } from "@resontech/contracts/embeddings-spec";
import { MAX_EMBEDDING_INPUTS } from "@resontech/contracts/openai-surface";
import { wholeLines } from "@resontech/house/whole-lines";

const RUNNERS = join(import.meta.dirname, "../../../agent/runners");

export type EmbeddingsTold = Record<string, unknown>;

/** The real program that embeds. @param root an empty folder, which stands for the container's root */
export function startEmbeddings(
  python: string,
  root: string,
  said: Pick<EmbeddingsSpec, "name" | "folder" | "port">,
): { told: () => EmbeddingsTold[]; end: () => void } {
  for (const part of ["rt/job", "rt/events"]) mkdirSync(join(root, part), { recursive: true });
  const spec: EmbeddingsSpec = {
    ...{ formatVersion: 1, replica: "r-1", maxOngoingRequests: 4 },
    ...{ maxInputs: MAX_EMBEDDING_INPUTS, maxBodyBytes: 8 * 1024 ** 2, callLimitMs: 600_000 },
    ...said,
  };
  writeFileSync(join(root, "rt/job/embeddings.json"), JSON.stringify(spec));
  const program = `import sys, pathlib; sys.path.insert(0, ${JSON.stringify(RUNNERS)})
from resontech_embeddings.main import main
sys.exit(main(pathlib.Path(${JSON.stringify(root)})))`;
  const child = spawn(python, ["-u", "-c", program], { stdio: "ignore" });
  const events = join(root, "rt/events/events.jsonl");
  const told = (): EmbeddingsTold[] =>
    wholeLines(events).map((line) => JSON.parse(line) as EmbeddingsTold);
  return { told, end: () => void child.kill("SIGKILL") };
}
