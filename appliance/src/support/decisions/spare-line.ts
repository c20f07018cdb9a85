/** What may be told of a log's line while nobody can say which names in it are people's. Pure. */

/** Fields whose values are words of the program. */
const TOLD = new Set([
  "level",
  "time",
  "pid",
  "part",
  "msg",
  "code",
  "type",
  "name",
  "signal",
  "status",
  "state",
  "phase",
  "reason",
  "origin",
  "shard",
]);
const MAX_WORD = 120;
/** Of a stack: which line of the program, never what it said. */
const FRAME = /^\s+at .+$/;

/** The line without what could be a name; null where nothing of it may be told. */
export function spareLine(line: string): string | null {
  if (FRAME.test(line)) return line;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  return typeof value === "object" && value !== null ? JSON.stringify(spared(value)) : null;
}

function spared(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]): [string, unknown][] => {
      if (typeof one === "number" || typeof one === "boolean") return [[name, one]];
      if (name === "err" && typeof one === "object" && one !== null) return [[name, spared(one)]];
      if (typeof one !== "string") return [];
      if (name === "stack")
        return [
          [
            name,
            one
              .split("\n")
              .filter((frame) => FRAME.test(frame))
              .join("\n"),
          ],
        ];
      return TOLD.has(name) && one.length <= MAX_WORD ? [[name, one]] : [];
    }),
  );
}
