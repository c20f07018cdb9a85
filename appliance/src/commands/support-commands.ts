/** `appliance support-bundle [FILE]`: what the vendor's support needs, without secrets, personal values and anything of jobs. */
import { resolve } from "node:path";
import { confirm } from "@resontech/cli/confirm";
import { type Command, InvalidArgumentError } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { connectOperator, operated } from "../audit/operator-record.ts";
import type { PartContext } from "../parts/context.ts";
import { type GatheredBundle, gatherBundle } from "../support/gather-bundle.ts";
import { writeBundle, type WrittenBundle } from "../support/write-bundle.ts";
import type { OperatorShell } from "./ask-operator.ts";
import { formatSize } from "../status/decisions/quantities.ts";

const DEFAULT_MB = 50;
const MAX_MB = 2_000;
/** README, manifest, and the archive's own blocks. */
const FRAME_BYTES = 128 * 1024;
const CONNECT_MS = 3_000;

type Options = { dryRun: boolean; yes: boolean; json: boolean; maxMb: number };

export function addSupportCommands(program: Command, shell: OperatorShell): void {
  leaves(program.command("support-bundle [file]"), { event: "admin.support" })
    .description(
      "write one file for the vendor's support: status, logs, versions, configuration; without secrets, names and data of jobs",
    )
    .option("--dry-run", "show what would go in, and write nothing", false)
    .option("--yes", "do not ask", false)
    .option(
      "--max-mb <n>",
      "the file is never larger; the newest lines go first",
      megabytes,
      DEFAULT_MB,
    )
    .option("--json", "one JSON line", false)
    .addHelpText(
      "after",
      "\nExamples:\n  appliance support-bundle --dry-run\n  appliance support-bundle /media/usb/support.tar.gz",
    )
    .action(async (file: string | undefined, options: Options) => {
      const context = shell.openContext();
      const madeAt = new Date().toISOString();
      const target = resolve(file ?? defaultName(context, madeAt));
      const room = options.maxMb * 1_000_000 - FRAME_BYTES;
      const bundle = await gatherBundle(context, shell.ask, room);
      if (!options.json) preview(bundle, shell);
      if (options.dryRun) {
        if (options.json) shell.print({ file: null, files: listed(bundle) });
        else shell.say("dry run: nothing was written");
        return;
      }
      if (!options.yes) await confirm(`write all this to ${target}? [y/N] `, /^y(es)?$/i);
      const written = await recorded(context, (isRecorded) =>
        writeBundle(target, bundle, {
          ...{ madeAt, version: context.release.version },
          ...{ instance: context.config.instance, isRecorded },
        }),
      );
      if (options.json) return shell.print({ ...written, redacted: bundle.redacted });
      shell.say(`${written.file}: ${formatSize(written.bytes)}, readable by root alone`);
      shell.say(`SHA-256 ${written.sha256}`);
    });
}

function megabytes(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > MAX_MB)
    throw new InvalidArgumentError(`megabytes from 1 to ${MAX_MB} are meant`);
  return value;
}

function defaultName({ config }: PartContext, madeAt: string): string {
  return `resontech-support-${config.instance}-${madeAt.replaceAll(/[-:]|\.\d+/g, "")}.tar.gz`;
}

function listed({ files }: GatheredBundle): { path: string; what: string; bytes: number }[] {
  return files.map(({ path, what, bytes }) => ({ path, what, bytes: bytes.length }));
}

function preview(bundle: GatheredBundle, { table, say }: OperatorShell): void {
  table(
    ["FILE", "SIZE", "WHAT"],
    listed(bundle).map(({ path, what, bytes }) => [path, formatSize(bytes), what]),
    "nothing",
  );
  const taken = Object.entries(bundle.redacted).map(([kind, count]) => `${kind} ${count}`);
  say(`taken out: ${taken.join(", ")}`);
  if (!bundle.peopleAreKnown)
    say(
      "the coordinator does not answer, so names of people are unknown: logs hold words of programs alone",
    );
}

/** Root may read all of it without a record, and needs it most where nothing runs: a log that takes nothing is no reason to refuse. */
async function recorded(
  context: PartContext,
  write: (isRecorded: boolean) => WrittenBundle,
): Promise<WrittenBundle> {
  const producer = await connectOperator(context.layout, CONNECT_MS).catch(() => null);
  if (producer === null) return write(false);
  await using _ = producer;
  const operation = {
    type: "admin.support",
    action: "appliance support-bundle",
    object: { kind: "appliance", id: "appliance" },
  } as const;
  return await operated(producer, [operation], async () => {
    const written = write(true);
    const { sha256, bytes, files } = written;
    return { result: written, detail: { bundle_sha256: sha256, bytes, files } };
  });
}
