/** What a person changes of an earlier job before it is sent as a new one. Pure. */
import type { ChangedFiles } from "@resontech/contracts/changed-files";
import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import type { TaskVariantBody } from "@resontech/contracts/http-tasks";
import type { ClassWish, WayWish } from "./class-wishes.ts";

/** Fields as they are typed: an empty one means that nothing is said. */
export type VariantDraft = {
  name: string;
  /** Catalogue ids with commas. */
  models: string;
  price: string;
  memory: string;
  minutes: string;
  class: ClassWish;
  makesWay: WayWish;
  /** Its name. */
  pool: string;
  /** One a line. */
  arguments: string;
  /** `NAME=value`, one a line. */
  environment: string;
};
type FieldChange = { what: string; before: string; after: string };

const NUMBER = / (\d+)$/;

/** `digits` → `digits 2` → `digits 3`: outputs go to a folder of their own. */
export function nextName(name: string): string {
  const number = NUMBER.exec(name)?.[1];
  return number === undefined ? `${name} 2` : name.replace(NUMBER, ` ${Number(number) + 1}`);
}

export function draftOf(job: JobParametersReply): VariantDraft {
  return {
    name: nextName(job.name),
    models: (job.gpuModels ?? []).join(","),
    price: String(job.maxPricePerGpuHourCents ?? ""),
    memory: String(job.estimatedMemoryMb ?? ""),
    minutes: String(job.timeLimitMinutes ?? ""),
    class: job.class ?? "",
    makesWay: job.preemptible === null ? "" : job.preemptible ? "yes" : "no",
    pool: job.pool ?? "",
    arguments: job.arguments.join("\n"),
    environment: Object.entries(job.environment)
      .map(([name, value]) => `${name}=${value}`)
      .join("\n"),
  };
}

const plain = (text: string) => text || "nothing";
const FIELDS: readonly (readonly [
  field: keyof VariantDraft,
  what: string,
  say: (text: string) => string,
])[] = [
  ["name", "Name", plain],
  ["models", "Device", (models) => models.replaceAll(",", ", then ") || "any"],
  ["price", "Highest price", (cents) => (cents === "" ? "any" : `${cents} cents an hour`)],
  ["memory", "Memory asked for", (mb) => (mb === "" ? "nothing" : `${mb} MiB`)],
  ["minutes", "Time limit", (minutes) => (minutes === "" ? "none" : `${minutes} min`)],
  ["class", "Class", (one) => one || "as its kind"],
  ["makesWay", "Makes way", (way) => way || "as others do"],
  ["pool", "Pool", (pool) => pool || "wherever it is let in"],
  ["arguments", "Arguments", plain],
  ["environment", "Environment", plain],
];

export function fieldChanges(draft: VariantDraft, job: JobParametersReply): FieldChange[] {
  const before = { ...draftOf(job), name: job.name };
  return FIELDS.flatMap(([field, what, say]) =>
    draft[field] === before[field]
      ? []
      : [{ what, before: say(before[field]), after: say(draft[field]) }],
  );
}

/** What is as it was is left out. */
export function bodyOfDraft(
  draft: VariantDraft,
  job: JobParametersReply,
): Omit<TaskVariantBody, keyof ChangedFiles> {
  const before = { ...draftOf(job), name: job.name };
  const is = (field: keyof VariantDraft) => draft[field] !== before[field];
  const numberOrNull = (text: string) => (text === "" ? null : Number(text));
  return {
    ...(is("name") ? { name: draft.name } : {}),
    ...(is("models") ? { gpuModels: draft.models === "" ? null : draft.models.split(",") } : {}),
    ...(is("price") ? { maxPricePerGpuHourCents: numberOrNull(draft.price) } : {}),
    ...(is("memory") ? { estimatedMemoryMb: numberOrNull(draft.memory) } : {}),
    ...(is("minutes") ? { timeLimitMinutes: numberOrNull(draft.minutes) } : {}),
    ...(is("class") ? { class: draft.class === "" ? null : draft.class } : {}),
    ...(is("makesWay")
      ? { preemptible: draft.makesWay === "" ? null : draft.makesWay === "yes" }
      : {}),
    ...(is("pool") ? { pool: draft.pool === "" ? null : draft.pool } : {}),
    ...(is("arguments") ? { arguments: linesOf(draft.arguments) } : {}),
    ...(is("environment") ? { environment: environmentOf(draft.environment) } : {}),
  };
}

/** An argument is a line; the last line may end. */
export function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

export function environmentOf(text: string): Record<string, string> {
  return Object.fromEntries(
    linesOf(text)
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const at = line.indexOf("=");
        return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1)];
      }),
  );
}
