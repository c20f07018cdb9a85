/** Logs of a job: what is stored, and what comes live behind it, joined by offset. */
import type { JobLogsReply } from "@resontech/contracts/http-jobs";
import type { LogChange } from "@resontech/contracts/live-feed";
import { isTerminal, type MemberState } from "@resontech/contracts/job-states";
import { getJson } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import { followTopic } from "../live/follow-topic.ts";
import { printable } from "../printable.ts";
import type { Settings } from "../settings.ts";
import { size, toldWithUnits } from "../size.ts";
import { readJob } from "./read-jobs.ts";

type Member = JobLogsReply[number];
type Print = (of: Member, text: string) => void;
type Options = {
  /** A site, a role or a member's id; null: all of the newest attempt. */
  of: string | null;
  /** Attempts live beside one another and after one another, and all of them are meant; how each ended is said. */
  areReplicas?: boolean;
  /** Bytes of the stored end to begin with; null: the whole log. */
  tailBytes: number | null;
  isFollowed: boolean;
  /** Whether nothing will be printed any more. */
  isOver: () => Promise<boolean>;
};

const ENDED: readonly MemberState[] = ["RELEASED", "LOST", "FENCED", "QUARANTINED"];
/** Each reading is an entry of the audit log: of those before the newest ones it is said how they ended. */
const MAX_REPLICAS = 10;
const PAGE_BYTES = 1024 ** 2;
/** Looked at while nothing is printed: a job that has ended prints no more. */
const LOOK_MS = 2_000;

/** @throws CliError */
export async function printLogs(
  settings: Settings,
  job: string,
  { of, areReplicas = false, tailBytes, isFollowed, isOver }: Options,
  print: Print,
  say: (text: string) => void,
): Promise<void> {
  const list = async () => {
    const all = await getJson(settings, "/api/jobs/{id}/logs", { params: { id: job } });
    return areReplicas ? all.toReversed() : chosen(all, of);
  };
  const members = await list();
  if (members.length === 0 && !isFollowed)
    throw new CliError(
      "log_missing",
      of === null ? `${job} has no member yet` : `${job} has no member ${of}`,
      "`-f` waits for one; `resontech jobs show` names those of a job.",
    );
  const ends = new Map<string, number>();
  const readStored = async (member: Member): Promise<void> => {
    let offset = ends.get(member.member) ?? (tailBytes === null ? 0 : -tailBytes);
    for (;;) {
      const part = await getJson(settings, "/api/jobs/{id}/logs/{member}", {
        params: { id: job, member: member.member },
        query: { offset, bytes: PAGE_BYTES },
      });
      if (part.text !== "") print(member, part.text);
      ends.set(member.member, part.end);
      offset = part.end;
      if (part.end >= part.storedBytes || part.end === part.offset) return;
    }
  };
  const read = areReplicas ? members.slice(-MAX_REPLICAS) : members;
  for (const member of members) {
    const isRead = read.includes(member);
    if (areReplicas && members.length > 1)
      say(`== replica ${member.member}${isRead ? "" : ": its log is left out"}`);
    if (isRead) await readStored(member);
    if (areReplicas && isEnded(member)) say(`== replica ${member.member} ${endOf(member)}`);
  }
  if (!isFollowed || (await isOver())) return;

  const known = new Map(members.map((member) => [member.member, member]));
  const live = async (change: LogChange): Promise<void> => {
    if (!known.has(change.member))
      for (const member of await list()) known.set(member.member, member);
    const member = known.get(change.member);
    if (member === undefined) return;
    const end = ends.get(change.member) ?? 0;
    if (change.offset + change.bytes <= end) return;
    if (change.text === null || change.offset > end) {
      say(
        `${size(change.offset + change.bytes - end)} were not shown live; the stored log has them`,
      );
      if (change.text !== null) print(member, change.text);
    } else
      print(
        member,
        Buffer.from(change.text, "utf8")
          .subarray(end - change.offset)
          .toString("utf8"),
      );
    ends.set(change.member, change.offset + change.bytes);
  };
  const feed = followTopic(settings, { kind: "log", job }, (why) =>
    say(`not live: ${why}; trying again`),
  );
  let next = feed.next();
  for (;;) {
    const told = await Promise.race([next, pause()]);
    if (told === null) {
      if (!(await isOver())) continue;
      for (const member of known.values()) await readStored(member);
      await feed.return();
      return;
    }
    if (told.done === true) return;
    next = feed.next();
    const message = told.value;
    if (message.kind === "reset") for (const member of known.values()) await readStored(member);
    else if (message.change.kind === "log") await live(message.change);
  }
}

function isEnded({ state }: Member): boolean {
  return ENDED.includes(state);
}

function endOf({ reason, message }: Member): string {
  const why = [reason, message].filter((one) => one !== null).join(": ");
  return why === "" ? "ended" : `ended: ${printable(toldWithUnits(why))}`;
}

/** Chooses the logs of the newest attempt, unless one is named by its id. */
function chosen(logs: JobLogsReply, of: string | null): Member[] {
  const byId = logs.filter(({ member }) => member === of);
  if (byId.length > 0) return byId;
  const newest = Math.max(...logs.map(({ attempt }) => attempt));
  return logs.filter(
    ({ attempt, site, role }) => attempt === newest && (of === null || of === (site ?? role)),
  );
}

export async function isJobOver(settings: Settings, job: string): Promise<boolean> {
  const { detail } = await readJob(settings, job);
  return isTerminal(detail.state);
}

async function pause(): Promise<null> {
  return await new Promise((resolve) => {
    setTimeout(() => resolve(null), LOOK_MS);
  });
}
