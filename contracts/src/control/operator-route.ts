/** The form of a route of the operator: what both sides of root's socket read. */
import { type Static, type TObject, type TSchema, Type } from "typebox";
import { closed } from "../closed.ts";

/**
 * Names the person of the host who asks, for the audit log; left out where nobody signed in. Root's socket alone believes it: whoever can open that one could
 * be anybody of this host.
 */
export const PERSON_HEADER = "x-rt-person";
export const HostPerson = Type.String({
  minLength: 1,
  maxLength: 160,
  pattern: "^[\\x20-\\x7e]+$",
});

/** Each field of a request has one place, and a name that no other field has: whoever asks gives them all as one object. */
export type OperatorRoute = {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Where people ask the same, their own route. */
  path: `/api/${string}`;
  params?: TObject;
  query?: TObject;
  body?: TObject;
  answer: TSchema;
};

export function operatorRoute<const R extends OperatorRoute>(route: R): R {
  return route;
}

type FieldsOf<R, Place extends string> =
  R extends Readonly<Record<Place, infer S extends TSchema>> ? Static<S> : unknown;
export type RouteFields<R extends OperatorRoute> = FieldsOf<R, "params"> &
  FieldsOf<R, "query"> &
  FieldsOf<R, "body">;

export type OperatorHttpRequest = {
  method: OperatorRoute["method"];
  path: string;
  body: Record<string, unknown> | null;
};

/** How a request goes over HTTP. Whether its fields are right is for the other side to say. */
export function operatorHttpRequest(
  { method, path, query, body }: OperatorRoute,
  asked: Readonly<Record<string, unknown>>,
): OperatorHttpRequest {
  const named = path.replaceAll(/:([A-Za-z]+)/g, (_, field: string) =>
    encodeURIComponent(String(asked[field])),
  );
  const search = new URLSearchParams(
    Object.entries(fieldsIn(query, asked)).map(([field, value]) => [field, String(value)]),
  ).toString();
  return {
    method,
    path: search === "" ? named : `${named}?${search}`,
    body: body === undefined ? null : fieldsIn(body, asked),
  };
}

function fieldsIn(
  schema: TObject | undefined,
  asked: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(schema?.properties ?? {})
      .filter((field) => asked[field] !== undefined)
      .map((field) => [field, asked[field]]),
  );
}

/** Of users and nodes in a request: whether there is one of this name is no matter of form. */
export const AskedName = Type.String({ minLength: 1, maxLength: 64 });
export const OfUser = Type.Object({ username: AskedName }, closed);
/** An operation that has nothing to tell but that it is done. */
export const Nothing = Type.Object({}, closed);
