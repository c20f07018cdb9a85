/** What one test file can leave changed for the next one in the same process. */
export type ProcessState = {
  cwd: string;
  umask: number;
  env: Readonly<Record<string, string | undefined>>;
  /** Kinds of what keeps the process alive, one for each: `process.getActiveResourcesInfo()`. */
  resources: readonly string[];
  /** Signal, or fault that nobody caught → how many listen for it. */
  listeners: Readonly<Record<string, number>>;
};

/** In words, one for each thing; empty where all is as it was. What has gone meanwhile is no difference. */
export function differences(before: ProcessState, after: ProcessState): string[] {
  const names = new Set([...Object.keys(before.env), ...Object.keys(after.env)]);
  return [
    ...(before.cwd === after.cwd ? [] : [`works in ${after.cwd}`]),
    ...(before.umask === after.umask ? [] : [`umask ${after.umask.toString(8)}`]),
    ...[...names]
      .filter((name) => before.env[name] !== after.env[name])
      .map((name) => `environment ${name}`),
    ...[...new Set(after.resources)].flatMap((kind) => {
      const more = count(after.resources, kind) - count(before.resources, kind);
      return more > 0 ? [`${more} ${kind}`] : [];
    }),
    ...Object.entries(after.listeners).flatMap(([event, listeners]) => {
      const more = listeners - (before.listeners[event] ?? 0);
      return more > 0 ? [`${more} listening for ${event}`] : [];
    }),
  ];
}

function count(all: readonly string[], kind: string): number {
  return all.filter((each) => each === kind).length;
}
