import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { deserialize } from "node:v8";
import type { ProofContext, ProofResult } from "../../proof.ts";
import { temporaryRoot } from "../instances/auditd-instance.ts";
import { Dice } from "./dice.ts";
import { readFinding } from "./findings.ts";
import { asFiles, bytesOf } from "./input.ts";
import { JudgeProcess } from "./evaluate-process.ts";
import { type LargeKind, largeInput } from "./large-inputs.ts";
import { InputMaker } from "./make-input.ts";
import { NoteKeys } from "./note-keys.ts";
import { faultOfRun, runProgram } from "./program.ts";
import type { Samples } from "./samples.ts";

/** An input by its numbers alone, over the samples that were kept with it, is the very one; what comes of it now. */
export async function again(
  folder: string,
  program: string,
  progress: ProofContext["progress"],
): Promise<ProofResult> {
  const { finding, samplesFile } = readFinding(folder);
  const samples = deserialize(readFileSync(samplesFile)) as Samples;
  const root = temporaryRoot();
  try {
    const input =
      "path" in finding
        ? new InputMaker(samples, finding.seed).at(finding.path).input
        : largeInput(
            finding.large as LargeKind,
            new NoteKeys(samples.ring),
            Dice.numbered(finding.seed, finding.number),
          );
    const made = asFiles(input, join(root, "made")).filter((argument) => argument.startsWith(root));
    const same = made.filter((file) =>
      readFileSync(file).equals(readFileSync(join(folder, file.slice(file.lastIndexOf("/") + 1)))),
    );
    const run = await runProgram(program, input, join(root, "run"), process.execPath);
    const faults = [faultOfRun(run, bytesOf(input))];
    if ("path" in finding) {
      const task = {
        first: 0,
        stride: 1,
        only: finding.path,
        judge: "verifier",
        program: null,
      } as const;
      const files = {
        samplesFile,
        seed: finding.seed,
        progressFile: join(root, "progress"),
        folder: root,
      };
      const process = new JudgeProcess({ ...task, ...files }, ({ found }) =>
        faults.push(...found.map(({ fault }) => fault)),
      );
      const ending = await process.ended();
      if (ending !== null) faults.push(ending.fault);
    }
    const found = faults.filter((fault) => fault !== null);
    for (const { what, said } of found) progress(`${what}: ${said}`);
    const { code, signal, peakMib, cpuS } = run;
    return {
      ok: found.length === 0,
      figures: {
        finding,
        same_files: `${same.length} of ${made.length}`,
        program: { code, signal, peakMib, cpuS },
        found,
      },
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
