/** What a plan was made from, as lists of plain items that can be written down, and back. Pure. */
import type { NodeGate } from "./gate-facts.ts";
import type {
  PlacementNode,
  PlacementWorker,
  RunningGang,
  SleepingGang,
  Vacancy,
  WaitingGang,
} from "./placement-facts.ts";
import type { Sharing, Snapshot } from "./placement.ts";
import type { Amounts, Share } from "./shares.ts";

/** Its gate is named by its place in the list of gates. */
type NodeItem = Omit<PlacementNode, "gate"> & { gate?: number };
export type InputLists = {
  gangs: readonly WaitingGang[];
  vacancies: readonly Vacancy[];
  gates: readonly NodeGate[];
  nodes: readonly NodeItem[];
  workers: readonly PlacementWorker[];
  running: readonly RunningGang[];
  /** Of those that a plan without shares looks at, where they are others. */
  watched: readonly RunningGang[];
  leaving: readonly Pick<RunningGang, "project" | "userId" | "workers">[];
  sleepers: readonly SleepingGang[];
  shares: readonly Share[];
  used: readonly { project: string; amounts: Amounts }[];
  persons: readonly { user: string; person: string }[];
  poolUse: readonly { pool: string; held: readonly (readonly [string, number])[] }[];
};
export type InputListName = keyof InputLists;
/** Null: the plan was made without. @property watched whether its list of running gangs is one of its own */
export type InputMoment = {
  sharingAt: number | null;
  backfillAt: number | null;
  isWatchedApart: boolean;
};
export type PlanInput = { moment: InputMoment; lists: InputLists };

/** In the order in which they are written down. */
export const INPUT_LISTS = [
  ...([
    "gangs",
    "vacancies",
    "gates",
    "nodes",
    "workers",
    "running",
    "watched",
    "leaving",
  ] as const),
  ...(["sleepers", "shares", "used", "persons", "poolUse"] as const),
] as const satisfies readonly InputListName[];

export const NO_LISTS: InputLists = {
  ...{ gangs: [], vacancies: [], gates: [], nodes: [], workers: [], running: [], watched: [] },
  ...{ leaving: [], sleepers: [], shares: [], used: [], persons: [], poolUse: [] },
};

/**
 * Items are the snapshot's own objects, wherever they hold nothing that can't be written down or that the plan does not read. A field that plans newly read
 * does not compile until it is among them.
 */
export function planInputOf(snapshot: Snapshot): PlanInput {
  const { gangs, vacancies = [], workers, sleepers = [], ...others } = snapshot;
  const { nodes: given, sharing, backfill, poolUse, ...more } = others;
  const { gates, nodes } = nodeItems(given);
  const isWatchedApart = backfill !== undefined && backfill.running !== sharing?.running;
  return {
    moment: { sharingAt: sharing?.now ?? null, backfillAt: backfill?.now ?? null, isWatchedApart },
    lists: {
      ...{ gangs, vacancies, gates, nodes, workers, sleepers },
      ...(sharing === undefined ? NO_SHARING : sharingLists(sharing)),
      watched: isWatchedApart ? backfill.running : [],
      poolUse: [...(poolUse ?? [])].map(([pool, held]) => ({ pool, held: [...held] })),
      ...(more satisfies Record<string, never>),
    },
  };
}

type SharingLists = Pick<InputLists, "running" | "leaving" | "shares" | "used" | "persons">;
const NO_SHARING: SharingLists = { running: [], leaving: [], shares: [], used: [], persons: [] };

function sharingLists(sharing: Sharing): SharingLists {
  const { now: _now, shares, used, running, leaving = [], persons = [], ...more } = sharing;
  return {
    running,
    leaving: leaving.map(({ project, userId, workers }) => ({ project, userId, workers })),
    shares: shares.map(shareItem),
    used: [...used].map(([project, amounts]) => ({ project, amounts })),
    persons: [...persons].map(([user, person]) => ({ user, person })),
    ...(more satisfies Record<string, never>),
  };
}

/** A snapshot from which the same plan is made. */
export function snapshotOfInput({ moment, lists }: PlanInput): Snapshot {
  const { gangs, vacancies, gates, workers, running, sleepers } = lists;
  const { sharingAt, backfillAt, isWatchedApart } = moment;
  const poolUse = new Map(lists.poolUse.map(({ pool, held }) => [pool, new Map(held)]));
  const sharing: Sharing | null =
    sharingAt === null
      ? null
      : {
          ...{ now: sharingAt, shares: lists.shares, running, leaving: lists.leaving },
          used: new Map(lists.used.map(({ project, amounts }) => [project, amounts])),
          persons: new Map(lists.persons.map(({ user, person }) => [user, person])),
        };
  return {
    ...{ gangs, vacancies, workers, sleepers },
    ...(poolUse.size === 0 ? {} : { poolUse }),
    ...(sharing === null ? {} : { sharing }),
    ...(backfillAt === null
      ? {}
      : { backfill: { now: backfillAt, running: isWatchedApart ? lists.watched : running } }),
    nodes: lists.nodes.map(({ gate, ...node }) =>
      gate === undefined ? node : { ...node, gate: gates[gate]! },
    ),
  };
}

function nodeItems(nodes: readonly PlacementNode[]): { gates: NodeGate[]; nodes: NodeItem[] } {
  const places = new Map<NodeGate, number>();
  const items = nodes.map((node): NodeItem => {
    const { gate, ...rest } = node;
    // The same object as it came where it can be.
    if (gate === undefined) return node as NodeItem;
    let place = places.get(gate);
    if (place === undefined) places.set(gate, (place = places.size));
    return { ...rest, gate: place };
  });
  return { gates: [...places.keys()], nodes: items };
}

/** Without what people call it. */
function shareItem(share: Share): Share {
  const { id, parent, guarantee, limit, weight } = share;
  const { personRunning = null, personQueued = null, interactiveIdleMinutes = null } = share;
  return {
    ...{ id, parent, guarantee, limit, weight, personRunning, personQueued },
    interactiveIdleMinutes,
  };
}
