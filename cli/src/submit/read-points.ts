/** What `--array` and `--grid` say. Pure. */
import type { ArrayBody } from "@resontech/contracts/http-arrays";
import { UsageError } from "../cli-error.ts";

type Asked = Pick<ArrayBody, "indexes" | "atOnce">;
type Parameter = NonNullable<ArrayBody["grid"]>[number];

/** `0-99`, `0-99%8`, `0-98:2%8`; of a grid the number after `%` alone. @throws UsageError `array_unreadable` */
export function readArray(said: string): Asked {
  const [, from, to = from, step, atOnce] =
    /^(?:(\d{1,7})(?:-(\d{1,7}))?(?::(\d{1,7}))?)?(?:%(\d{1,7}))?$/.exec(said) ?? [];
  if (from === undefined && atOnce === undefined)
    throw new UsageError(
      "array_unreadable",
      `${JSON.stringify(said)} is no array`,
      "Write 0-99, 0-98:2 for every second one, and 0-99%8 for at most eight at once.",
    );
  return {
    ...(from === undefined
      ? {}
      : {
          indexes: {
            ...{ from: Number(from), to: Number(to) },
            ...(step === undefined ? {} : { step: Number(step) }),
          },
        }),
    ...(atOnce === undefined ? {} : { atOnce: Number(atOnce) }),
  };
}

/** `lr=0.1,0.01`: a parameter and its values. @throws UsageError `grid_unreadable` */
export function withParameter(said: string, before: readonly Parameter[]): Parameter[] {
  const [, name, values] = /^([A-Za-z][A-Za-z0-9_-]{0,63})=(.+)$/s.exec(said) ?? [];
  if (name === undefined || values === undefined)
    throw new UsageError(
      "grid_unreadable",
      `${JSON.stringify(said)} is no parameter with values`,
      "Write --grid lr=0.1,0.01; the script gets --lr=0.1, and --lr=0.01.",
    );
  return [...before, { name, values: values.split(",") }];
}
