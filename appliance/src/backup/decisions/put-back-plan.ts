/** What of an appliance a restore replaces, and what of it stays. Pure. */
import {
  closedSecretsFolders,
  dataFoldersOf,
  type OnRestore,
  type PartDeclaration,
} from "@resontech/frame/define-part";

/** Of `data/`: what is the supervisor's own. */
const OWN: Readonly<Record<string, OnRestore>> = { backup: "stays", supervisor: "stays-at-home" };

export type PutBackPlan = {
  /** The log on this host is signed by the same keys. */
  isHome: boolean;
  /** Of `data/`: what is put aside. */
  aside: string[];
  /** Of `data/`: what takes its place. */
  in: string[];
  /** Below `etc/`: what stays of the configuration that is put aside. */
  carried: string[];
};

/**
 * @param here names in `data/` now
 * @param staged names in the backup's `data/`
 */
export function putBackPlan(
  here: readonly string[],
  staged: readonly string[],
  { isHome, declared }: { isHome: boolean; declared: readonly PartDeclaration[] },
): PutBackPlan {
  const rules = rulesOf(declared);
  const stays = (name: string): boolean => {
    const rule = rules.get(name);
    return isHome ? rule !== undefined : rule === "stays";
  };
  const isIn = (name: string): boolean =>
    isHome ? !(stays(name) && here.includes(name)) : rules.get(name) !== "home-alone";
  return {
    isHome,
    aside: here.filter((name) => !stays(name)),
    in: staged.filter(isIn),
    carried: isHome ? closedSecretsFolders(declared).map((name) => `secrets/${name}`) : [],
  };
}

/** Maps names in `data/` to what a restore does with them; what is not among them is replaced. */
function rulesOf(declared: readonly PartDeclaration[]): Map<string, OnRestore> {
  const ofParts = declared.flatMap((part) => {
    const rule = part.data?.onRestore ?? (part.data?.isBackedUp === false ? "stays-at-home" : null);
    return rule === null ? [] : dataFoldersOf(part).map(({ name }) => [name, rule] as const);
  });
  return new Map([...Object.entries(OWN), ...ofParts]);
}

/** Whether two policies of the log name one key for one origin. @param policies texts of `audit.policy` */
export function hasSameLogKey(one: string, other: string): boolean {
  const keysOf = (policy: string): Set<string> =>
    new Set(policy.split("\n").filter((line) => line.startsWith("log ")));
  const [mine, theirs] = [keysOf(one), keysOf(other)];
  return [...mine].some((line) => theirs.has(line));
}

/** Of the configuration, what belongs to the host and not to the appliance. */
export type OfTheHost = {
  instance: unknown;
  address: unknown;
  ports: unknown;
  containerEngine: unknown;
  hostTools?: unknown;
};

/** The backup's configuration on this host. */
export function configOnHost<T extends OfTheHost>(staged: T, here: T): T {
  const { instance, address, ports, containerEngine, hostTools } = here;
  const { hostTools: _other, ...rest } = staged;
  return {
    ...rest,
    ...{ instance, address, ports, containerEngine },
    ...(hostTools === undefined ? {} : { hostTools }),
  } as T;
}
