/** What a request would change, before and after: for whoever answers it. Pure. */
import { amountWords } from "@resontech/contracts/amount-words";
import type { RequestedChange, Requested } from "@resontech/contracts/http-approvals";
import { quotaWords } from "@resontech/contracts/size-words";
import type { ShareBody } from "@resontech/contracts/http-shares";
import type { ApplianceRole } from "../../authorization/roles.ts";
import { rolesAfter } from "./role-rules.ts";

/**
 * What holds now.
 * @property name as the summary has it: of a person or a project, or who receives
 * @property held roles of the whole appliance of the person
 * @property quotaBytes null where the project has no bucket
 * @property share null where there is none of the id, and of other requests
 * @property policies files that are in force, by name
 */
export type FactsNow = {
  name: string;
  held: readonly ApplianceRole[];
  quotaBytes: number | null;
  share: Required<ShareBody> | null;
  policies: ReadonlyMap<string, string>;
};

/** Longest text of one side of a change, in characters. */
const MAX_TEXT = 20_000;

export function changesOf(what: Requested, now: FactsNow): RequestedChange[] {
  const { name, held, quotaBytes, share, policies } = now;
  switch (what.kind) {
    case "role":
      return [
        {
          what: `roles of ${name}`,
          before: listOf(held),
          after: listOf(rolesAfter(what, held)),
        },
      ];
    case "second-factor":
      return [
        {
          what: `second factor of ${name}`,
          before: "as set up",
          after: "none, until the next sign-in",
        },
      ];
    case "quota":
      return [
        {
          what: `room of ${name}`,
          before: quotaBytes === null ? null : quotaWords(quotaBytes),
          after: quotaWords(what.bytes),
        },
      ];
    case "share":
      return share === null ? [] : shareChanged(name, share, { ...share, ...what });
    case "policy":
      return filesChanged(policies, new Map(Object.entries(what.files)));
    case "export":
      return [
        {
          what: `outputs of job ${what.jobId} for ${name}`,
          before: "not to be read",
          after: `${what.files.length} to be read, for a day`,
        },
      ];
    case "erasure":
      return [
        { what: `values of ${what.subject}`, before: "sealed, can be opened", after: "destroyed" },
      ];
    case "hold":
      return [
        {
          what: `legal hold ${what.hold}`,
          before: null,
          after: `nothing of ${what.subject} is erased`,
        },
      ];
    case "lift":
      return [
        {
          what: `legal hold ${what.hold}`,
          before: `nothing of ${what.subject} is erased`,
          after: null,
        },
      ];
    case "disclosure":
      return what.subjects.map((subject) => ({
        ...{ what: `values of ${subject} in ${what.shard}`, before: "sealed" },
        after: `opened for ${what.receiver}`,
      }));
    case "image":
      return [{ what: `image ${what.name}`, before: "not admitted", after: what.digest }];
    case "audit-policy":
      // The log keeps the policy in force, and this process does not read it.
      return [];
  }
}

function listOf(roles: readonly string[]): string | null {
  return roles.length === 0 ? null : roles.toSorted().join(", ");
}

function shareChanged(
  name: string,
  before: Required<ShareBody>,
  after: Required<ShareBody>,
): RequestedChange[] {
  const sides = (of: (share: Required<ShareBody>) => string | null) => ({
    before: of(before),
    after: of(after),
  });
  return [
    { what: `guarantee of ${name}`, ...sides(({ guarantee }) => amountWords(guarantee)) },
    { what: `limit of ${name}`, ...sides(({ limit }) => amountWords(limit)) },
    { what: `weight of ${name}`, ...sides(({ weight }) => String(weight)) },
    {
      what: `workers a person in ${name}`,
      ...sides(({ personRunning }) => (personRunning === null ? null : String(personRunning))),
    },
    {
      what: `waiting jobs a person in ${name}`,
      ...sides(({ personQueued }) => (personQueued === null ? null : String(personQueued))),
    },
    {
      what: `idle minutes of interactive jobs in ${name}`,
      ...sides(({ interactiveIdleMinutes: minutes }) =>
        minutes === null ? null : String(minutes),
      ),
    },
  ].filter((one) => one.before !== one.after);
}

/** Each file that is added, goes or changes, with the lines that differ. */
function filesChanged(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): RequestedChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].toSorted().flatMap((file) => {
    const [old, next] = [before.get(file), after.get(file)];
    if (old === next) return [];
    const [from, to] = linesThatDiffer(old ?? "", next ?? "");
    return [
      {
        what: `policies ${file}`,
        before: old === undefined ? null : from.slice(0, MAX_TEXT),
        after: next === undefined ? null : to.slice(0, MAX_TEXT),
      },
    ];
  });
}

/** Both texts without the lines that they begin and end with alike. */
function linesThatDiffer(before: string, after: string): [before: string, after: string] {
  const [old, next] = [before.split("\n"), after.split("\n")];
  const most = Math.min(old.length, next.length);
  let head = 0;
  while (head < most && old[head] === next[head]) head++;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === next.at(-1 - tail)) tail++;
  const middle = (lines: string[]) => lines.slice(head, lines.length - tail).join("\n");
  return [middle(old), middle(next)];
}
