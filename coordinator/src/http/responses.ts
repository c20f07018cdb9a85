import { type TSchema, Type } from "typebox";

/** Response schemas of a route: its own for success, one shape for every error. */
export function responses<const S extends 200 | 201, T extends TSchema>(
  status: S,
  schema: T,
): Record<S, T> & Record<"4xx" | "5xx", TSchema> {
  const shapes: Record<string, TSchema> = {
    [status]: schema,
    "4xx": Type.Ref("Error"),
    "5xx": Type.Ref("Error"),
  };
  return shapes as Record<S, T> & Record<"4xx" | "5xx", TSchema>;
}
