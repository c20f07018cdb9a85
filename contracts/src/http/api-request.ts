/** A request to the API: which routes there are, and how a path and a query of one are written. The table of routes is written from the routes themselves. */
import type { ApiRoutes } from "./api-routes.ts";

/** A route that `requestPath` could not ask does not compile here. */
type Askable<R extends Record<string, Record<string, { asked: UncheckedFields }>>> = R;
export type ApiMethod = keyof Askable<ApiRoutes>;
/** As the OpenAPI document writes it: `/api/jobs/{id}/logs` */
export type ApiPath<M extends ApiMethod> = keyof ApiRoutes[M] & string;

/** Parameters of the path, query and body, each where the route has one. */
export type ApiAsked<M extends ApiMethod, P extends ApiPath<M>> = ApiRoutes[M][P] extends {
  asked: infer A extends UncheckedFields;
}
  ? A
  : never;
export type ApiReply<M extends ApiMethod, P extends ApiPath<M>> = ApiRoutes[M][P] extends {
  answer: infer A;
}
  ? A
  : never;

/** What follows a path in a call: it may be left out where nothing must be said. */
export type ApiFields<Asked> = object extends Asked ? [asked?: Asked] : [asked: Asked];

type Words = Readonly<Record<string, string | number | boolean | undefined>>;
/** A request as one without the table sees it. @property query members that are undefined are left out */
export type UncheckedFields = { params?: Words; query?: Words; body?: object };

/** The path of a request with its query. Parameters are encoded here, and nowhere else. */
export function requestPath(path: string, { params = {}, query = {} }: UncheckedFields): string {
  const named = path.replaceAll(/\{([A-Za-z]+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? named : `${named}?${search.toString()}`;
}
