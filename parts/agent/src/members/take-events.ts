/** Passes on what a member's runner appends to its events: what is told of it, its last word, the models it names. */
import { setTimeout as sleep } from "node:timers/promises";
import { chooseEvents } from "../decisions/told-events.ts";
import type { JobFile } from "../substrate/area.ts";
import { JOB_PATHS } from "../substrate/job-paths.ts";
import type { CheckpointUploads } from "./checkpoint-uploads.ts";
import type { MemberContext } from "./member-context.ts";
import { readRunnerEvents } from "./runner-events.ts";

/** Until the coordinator may have taken some of what waits. */
const HELD_UP_MS = 200;
/** More than this waits in the job's own file: the record is written whole at each change, and one message takes 8 MiB. */
const MAX_PENDING = 512;
const MAX_PENDING_BYTES = 1024 * 1024;
/** Of what a runner has said that nobody had read by its end. */
const MAX_REST_BYTES = 64 * 1024 * 1024;

/** Tells what was said up to the end; of more than is read in time the last part, for the runner's last word is in it. */
export async function takeRest(
  member: MemberContext,
  checkpoints: CheckpointUploads,
): Promise<void> {
  const { journal, abandoned } = member;
  const size = await eventsSize(member);
  if (size - journal.state.eventsOffset > MAX_REST_BYTES) journal.passOver(size - MAX_REST_BYTES);
  while (journal.state.eventsOffset < size) {
    const before = journal.state.eventsOffset;
    await takeEvents(member, checkpoints);
    const isHeldUp = journal.state.eventsOffset === before;
    if (isHeldUp && roomFor(member) > 0) break;
    // Never without a pause: beats that wait for a job's events would end every job on this node.
    await sleep(isHeldUp ? HELD_UP_MS : 0, undefined, { signal: abandoned });
  }
}

/** Tells what the runner said since; true when a round ended. */
export async function takeEvents(
  member: MemberContext,
  checkpoints: CheckpointUploads,
): Promise<boolean> {
  const { journal } = member;
  const maxEvents = roomFor(member);
  if (maxEvents <= 0) return false;
  using file = await openEvents(member);
  if (file === null) return false;
  const { events, verdict, model, roundModel, offset } = readRunnerEvents(
    file,
    journal.state.eventsOffset,
    maxEvents,
  );
  if (offset === journal.state.eventsOffset) return false;
  if (events.length === 0 && verdict === null && roundModel === null) {
    journal.passOver(offset);
    return false;
  }
  const { wish, payload } = journal.state.desired;
  const { chosen, told } = chooseEvents(
    // A coordinator that wishes for nothing does not know what it means.
    events.filter(({ kind }) => kind !== "standing" || wish !== undefined),
    journal.state.told,
    payload.sites,
  );
  journal.note(
    {
      eventsOffset: offset,
      told,
      ...(verdict === null ? {} : { verdict }),
      ...(model === null ? {} : { model }),
    },
    ...chosen,
  );
  if (roundModel !== null) checkpoints.request(roundModel);
  return chosen.some(({ kind }) => kind === "round-ended");
}

/** How many events may be spooled beside those that wait for the coordinator. */
function roomFor({ journal }: MemberContext): number {
  const { pending } = journal.state;
  return JSON.stringify(pending).length < MAX_PENDING_BYTES ? MAX_PENDING - pending.length : 0;
}

function openEvents({ enclosure }: MemberContext): Promise<JobFile | null> {
  return enclosure.area.open(JOB_PATHS.events);
}

async function eventsSize(member: MemberContext): Promise<number> {
  using file = await openEvents(member);
  return file?.sizeBytes ?? 0;
}
