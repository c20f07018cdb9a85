/** Brings a member's inputs to where it finds them: from the object store, or from what the node kept of them for the same project. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import type { StagedInput } from "@resontech/contracts/agent-protocol";
import { persist } from "../bus/persist.ts";
import type { KeptInput } from "../cache/input-cache.ts";
import { MemberFailure } from "../member-failure.ts";
import { offThread } from "../off-thread/off-thread.ts";
import { objectBytes } from "../staging/object-bytes.ts";
import type { Area, StagedPart } from "../substrate/area.ts";
import type { MemberContext } from "./member-context.ts";
import type { TransferProgress } from "./transfer-progress.ts";

type Url = (isOutdated: boolean) => Promise<string>;
type Hooks = { url: Url; onProgress: (progress: { bytes: number }) => void };

/** @returns bytes of inputs that the node had kept; null where it keeps none for this member */
export async function stageInputs(
  member: MemberContext,
  progress: TransferProgress,
): Promise<number | null> {
  const { tools, journal, ref, enclosure, stopped } = member;
  const { area } = enclosure;
  const { inputs, cacheOwner } = journal.state.desired;
  if (inputs.length === 0) return null;
  const total = inputs.reduce((sum, input) => sum + input.sizeBytes, 0);
  let urls = await presigned();
  let cachedBytes = 0;
  // What a damaged copy of a shard left can be removed while nothing else lies there.
  for (const input of inputs.toSorted((a, b) => rankOf(a) - rankOf(b))) {
    const url: Url = async (isOutdated) => {
      if (isOutdated) urls = await presigned();
      const found = urls.get(input.id);
      if (found === undefined)
        throw new MemberFailure("staging_failed", `there is no URL for ${input.target}`);
      return found;
    };
    const onProgress = ({ bytes }: { bytes: number }): void =>
      progress.moved("inputs", bytes, total);
    const hooks = { url, onProgress };
    using kept = mayBeKept(inputs, input) ? tools.cache.find(cacheOwner, input) : null;
    if (kept !== null && (await isServed(member, input, kept, hooks))) {
      cachedBytes += input.sizeBytes;
      continue;
    }
    using filling = mayBeKept(inputs, input) ? tools.cache.begin(cacheOwner, input) : null;
    const keeping = filling === null ? {} : { keepIn: filling.path };
    const sha256 = await fetchInput(member, input, keeping, hooks);
    filling?.commit(sha256);
  }
  if (inputs.some(({ kind }) => kind === "shard" || kind === "file"))
    await area.giveToJob(area.path("payload"));
  return cacheOwner === undefined ? null : cachedBytes;

  async function presigned(): Promise<Map<string, string>> {
    const reply = await persist(() => tools.coordinator.stage(ref), stopped);
    return new Map(reply.urls.map(({ id, url }) => [id, url]));
  }
}

/** One that unpacks where another one does could not be taken back alone. */
function mayBeKept(inputs: readonly StagedInput[], { kind }: StagedInput): boolean {
  return kind !== "shard" || inputs.filter((input) => input.kind === "shard").length === 1;
}

function rankOf({ kind }: StagedInput): number {
  return kind === "shard" ? 0 : 1;
}

/** False where what was kept is not what it should be: it goes, and nothing of it is left to the member. */
async function isServed(
  member: MemberContext,
  input: StagedInput,
  kept: KeptInput,
  hooks: Hooks,
): Promise<boolean> {
  const { tools, ref, enclosure, stopped } = member;
  await requireThere(member, input, kept, hooks.url);
  try {
    await fetchInput(member, { ...input, sha256: kept.sha256 }, { kept: kept.path }, hooks);
    return true;
  } catch (error) {
    stopped.throwIfAborted();
    if (error instanceof Error && "code" in error && error.code === "ENOSPC") throw error;
    tools.log.error({ err: error, member: ref.member }, "what was kept of an input can't be used");
    kept.drop();
    if (input.kind === "shard") emptyFolder(enclosure.area.path("payload"));
    return false;
  }
}

/**
 * One byte is asked of the store: whoever may read the object no more, or finds it deleted there, gets none of what was kept of it.
 * @throws MemberFailure `staging_failed`, as without the cache
 */
async function requireThere(
  { tools, stopped }: MemberContext,
  input: StagedInput,
  kept: KeptInput,
  url: Url,
): Promise<void> {
  if (input.sizeBytes === 0) return;
  try {
    for await (const _ of objectBytes(
      { url, ca: tools.doorCa() },
      input,
      { start: 0, end: 1 },
      stopped,
    ));
  } catch (error) {
    if (error instanceof MemberFailure) kept.drop();
    throw error;
  }
}

async function fetchInput(
  { tools, journal, enclosure: { area }, stopped }: MemberContext,
  input: StagedInput,
  keeping: { kept?: string; keepIn?: string },
  hooks: Hooks,
): Promise<string | null> {
  const common = { input, ca: tools.doorCa(), ...keeping };
  if (input.kind === "shard") {
    const maxBytes = journal.state.desired.resources.diskBytes;
    return await offThread(
      { kind: "shard", folder: area.path("payload"), maxBytes, ...common },
      hooks,
      stopped,
    );
  }
  const file = targetOf({ kind: input.kind, target: input.target }, area);
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  return await offThread({ kind: "file", file, ...common }, hooks, stopped);
}

function emptyFolder(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
}

/** Answers where an input that stays a file lies; a target that would leave its place is refused. */
function targetOf(
  input: { kind: Exclude<StagedInput["kind"], "shard">; target: string },
  area: Area,
): string {
  const [part, from, below] = TARGETS[input.kind];
  const target = posix.resolve(from, input.target);
  const isBelow = !posix.isAbsolute(input.target) && target.startsWith(`${below}/`);
  if (isBelow) return area.path(part, target.slice(`/${part}/`.length));
  throw new MemberFailure("staging_failed", `${input.target} is no place for a ${input.kind}`);
}

/** The part of the area, where a relative target begins, and the folder that it must stay below. */
const TARGETS: Record<
  Exclude<StagedInput["kind"], "shard">,
  [part: StagedPart, from: string, below: string]
> = {
  model: ["model", "/", "/model"],
  script: ["job", "/job", "/job/scripts"],
  config: ["job", "/job", "/job/configs"],
  checkpoint: ["job", "/job", "/job/resume"],
  file: ["payload", "/", "/payload"],
};
