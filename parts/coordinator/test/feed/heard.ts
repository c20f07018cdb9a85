import type { FeedMessage, FeedPosition } from "@resontech/contracts/live-feed";
import type { KernelWorld } from "../kernel/kernel-world.ts";
import type { Feed } from "../../src/feed/feed.ts";

/** Everything that a reader of all jobs hears from a position up to now. */
export async function heard(feed: Feed, since: FeedPosition): Promise<FeedMessage[]> {
  const end = feed.position.sequence;
  const messages: FeedMessage[] = [];
  using reader = feed.subscribe(
    { kind: "jobs" },
    { reach: { rows: "all", shows: "everything" }, since },
  );
  // Told last of all, so that the loop ends where the feed is.
  feed.publish({ kind: "waiting", job: "end", why: null }, {}, 0);
  for await (const each of reader) {
    if (each.kind === "change" && each.sequence > end) break;
    messages.push(each);
  }
  return messages;
}

export type Journaled = {
  journal: number;
  job: string;
  from: string | null;
  to: string;
  event: string;
  member: string | null;
};

/** The journal as rows in the form of {@link journalIn}. */
export const JOURNAL = `SELECT seq AS journal, job_id AS job, from_state AS "from", to_state AS "to", event, member_id AS member
  FROM job_events WHERE seq > ? ORDER BY seq`;

/** Transitions among the messages. */
export function journalIn(messages: readonly FeedMessage[]): Journaled[] {
  return messages.flatMap((each) => {
    if (each.kind !== "change" || (each.change.kind !== "job" && each.change.kind !== "member"))
      return [];
    const { journal, job, from, to, event } = each.change;
    return [
      {
        journal,
        job,
        from,
        to,
        event,
        member: each.change.kind === "member" ? each.change.member : null,
      },
    ];
  });
}

/** Compares what each life of a world tells with what it wrote into the journal. */
export class ToldJournal {
  #feed: Feed;
  #position: FeedPosition;
  #seq = 0;

  constructor({ parts: { feed } }: KernelWorld) {
    this.#feed = feed;
    this.#position = { ...feed.position, sequence: 0 };
  }

  /** What was told or written since the last time, as two texts when they differ. */
  async difference(world: KernelWorld): Promise<string[]> {
    const { feed } = world.parts;
    if (feed !== this.#feed) this.#position = { ...feed.position, sequence: 0 };
    this.#feed = feed;
    const told = JSON.stringify(journalIn(await heard(feed, this.#position)));
    this.#position = feed.position;
    const rows = world.all<Journaled>(JOURNAL, this.#seq);
    this.#seq = rows.at(-1)?.journal ?? this.#seq;
    const written = JSON.stringify(rows);
    return told === written ? [] : [`told ${told}`, `written ${written}`];
  }
}
