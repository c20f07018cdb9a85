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

/** Describes what answers a page or a part of one: text for the browser, a redirect, or what stands in the way. The last comes as a page or as every other error. @param type of the answer's body */
export function pageResponses(type: string): Record<string, unknown> {
  const content = (types: readonly string[]) => ({
    description: "For a browser",
    content: Object.fromEntries(
      types.map((one) => [
        one,
        { schema: one === "application/json" ? Type.Ref("Error") : Type.String() },
      ]),
    ),
  });
  const failed = content(["text/html", "application/json"]);
  return { 200: content([type]), 302: Type.Null(), "4xx": failed, "5xx": failed };
}
