/** Requests in documents that the API does not answer. Pure: from the routes' own source. */
import type { Finding } from "./finding.ts";
import { readMarkdown } from "./markdown.ts";

const REQUEST = /^(GET|POST|PUT|PATCH|DELETE) (\/[^\s?#…]*)/;

/** `POST /api/tasks/*`: each route of a source that calls Fastify's `app.post("/api/tasks/:id", …)`. */
export function routesIn(source: string): string[] {
  return [...source.matchAll(/\bapp\.(get|post|put|patch|delete)\(\s*"([^"]+)"/g)].map(
    ([, method = "", path = ""]) =>
      [method.toUpperCase(), path.replaceAll(/:[A-Za-z]+/g, "*")].join(" "),
  );
}

export function unknownRoutes(
  document: string,
  markdown: string,
  routes: ReadonlySet<string>,
): Finding[] {
  return readMarkdown(markdown).code.flatMap(({ line, text }): Finding[] => {
    const [, method = "", path = ""] = REQUEST.exec(text) ?? [];
    // Other processes answer on sockets of their own.
    if (!path.startsWith("/api/")) return [];
    const wanted = `${method} ${path.replaceAll(/<[^>]*>|:[A-Za-z]+/g, "*").replace(/\/$/, "/*")}`;
    return routes.has(wanted)
      ? []
      : [{ document, line, what: `the API has no route ${method} ${path}` }];
  });
}
