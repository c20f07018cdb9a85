/**
 * The table of the API's routes that the shell and the dashboard are checked against: of each path of the OpenAPI document what it takes and answers, in types
 * of contracts. `node parts/coordinator/build/write-api-routes.ts` writes it; a test fails when it differs from the routes that are served.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DeclaredRoute, NO_BODY } from "../src/http/route-config.ts";

const CONTRACTS = join(import.meta.dirname, "../../../contracts/src/http");
export const API_ROUTES_FILE = join(CONTRACTS, "api-routes.ts");

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** A schema that contracts name. @property type as TypeScript writes it, with the file's name space before it */
type Contract = { file: string; type: string };
export type Contracts = ReadonlyMap<object, Contract>;

/** Of JSON Schema what routes of ours use. */
type Schema = {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean;
  default?: unknown;
};

/** Schemas of the HTTP contracts by what they are, not by what they say: routes are declared with these very objects. */
export async function readContracts(): Promise<Contracts> {
  const contracts = new Map<object, Contract>();
  for (const file of readdirSync(CONTRACTS).filter((name) => name.startsWith("http-"))) {
    const text = readFileSync(join(CONTRACTS, file), "utf8");
    const exported = (await import(join(CONTRACTS, file))) as Record<string, unknown>;
    for (const [name, value] of Object.entries(exported))
      if (typeof value === "object" && value !== null && isNamed(value)) {
        const type = `${spaceOf(file)}.${name}`;
        const hasType = text.includes(`export type ${name} =`);
        contracts.set(value, { file, type: hasType ? type : `Static<typeof ${type}>` });
      }
  }
  return contracts;
}

/** `http-service-accounts.ts`: serviceAccounts. Two contracts may have one name. */
function spaceOf(file: string): string {
  return file
    .replace(/^http-|\.ts$/g, "")
    .replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Text, numbers and lists of words are shorter without a name. */
function isNamed({ type, anyOf }: Schema): boolean {
  return type === "object" || type === "array" || anyOf !== undefined;
}

export function apiRoutesText(routes: readonly DeclaredRoute[], contracts: Contracts): string {
  const writer = new TypeWriter(contracts);
  const methods = METHODS.map((method) => {
    const lines = routes
      .filter((route) => route.name.startsWith(`${method} `) && isListed(route))
      .map((route) => [pathOf(route), routeText(route, writer)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, text]) => `    "${path}": ${text};`);
    return [`  ${method}: {`, ...lines, "  };"].join("\n");
  });
  return [
    "/**\n * Routes of the API that answer in JSON, as its OpenAPI document has them: what each takes, and what it answers.",
    " * Written by `node parts/coordinator/build/write-api-routes.ts`; a test compares it with the routes that are served.\n */",
    ...writer.imports(),
    "",
    "type NoFields = { params?: never; query?: never; body?: never };",
    "/** What the API fills in may be left out. */",
    "type Filled<T, K extends keyof T> = Omit<T, K> & { [P in K]?: T[P] };",
    "",
    `export type ApiRoutes = {\n${methods.join("\n")}\n};`,
    "",
  ].join("\n");
}

/** As OpenAPI writes it: `/api/jobs/{id}` */
export function pathOf({ name }: DeclaredRoute): string {
  return name.slice(name.indexOf(" ") + 1).replaceAll(/:([A-Za-z]+)/g, "{$1}");
}

/** Pages, streams and files have a text or a `content` of their own; probes and the registry's tokens are for other programs. */
export function isListed(route: DeclaredRoute): boolean {
  const { answer } = route;
  return /^\/(?:api|auth)\//.test(pathOf(route)) && answer !== null && isNamed(answer);
}

function routeText({ params, query, body, answer }: DeclaredRoute, writer: TypeWriter): string {
  const asked = [
    ...(params === null ? [] : [`params: ${writer.paramsOf(params)}`]),
    ...(query === null ? [] : [writer.queryOf(query)]),
    ...(body === null || body === NO_BODY ? [] : [`body: ${writer.typeOf(body)}`]),
  ];
  const fields = asked.length === 0 ? "NoFields" : `{ ${asked.join("; ")} }`;
  return `{ asked: ${fields}; answer: ${writer.typeOf(answer!)} }`;
}

/** Writes schemas as types, and keeps which files these are of. */
class TypeWriter {
  readonly #contracts: Contracts;
  readonly #files = new Set<string>();

  constructor(contracts: Contracts) {
    this.#contracts = contracts;
  }

  imports(): string[] {
    return [
      'import type { Static } from "typebox";',
      ...[...this.#files]
        .sort()
        .map((file) => `import type * as ${spaceOf(file)} from "./${file}";`),
    ];
  }

  /** Whatever the API reads of it, in a path a number is text as well. */
  paramsOf({ properties = {} }: Schema): string {
    const members = Object.entries(properties).map(([name, of]) => {
      const type = this.typeOf(of);
      return `${name}: ${type === "number" ? "number | string" : type}`;
    });
    return `{ ${members.join("; ")} }`;
  }

  /** The member `query`: it may be left out where nothing in it must be named. */
  queryOf(schema: Schema): string {
    const { properties = {}, required = [] } = schema;
    const filled = required.filter((name) => properties[name]?.default !== undefined);
    const keys = filled.map((name) => `"${name}"`).join(" | ");
    const type = this.typeOf(schema);
    const mark = filled.length === required.length ? "?" : "";
    return `query${mark}: ${keys === "" ? type : `Filled<${type}, ${keys}>`}`;
  }

  typeOf(schema: Schema): string {
    const contract = this.#contracts.get(schema);
    if (contract === undefined) return this.#written(schema);
    this.#files.add(contract.file);
    return contract.type;
  }

  #written(schema: Schema): string {
    const { anyOf, properties = {}, patternProperties, required = [] } = schema;
    if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (anyOf !== undefined) return anyOf.map((one) => this.typeOf(one)).join(" | ");
    switch (schema.type) {
      case "string":
      case "boolean":
      case "null":
        return schema.type;
      case "integer":
      case "number":
        return "number";
      case "array":
        return `Array<${this.typeOf(schema.items!)}>`;
      case "object": {
        if (patternProperties !== undefined)
          return `Record<string, ${this.typeOf(Object.values(patternProperties)[0]!)}>`;
        const members = Object.entries(properties).map(
          ([name, of]) => `${name}${required.includes(name) ? "" : "?"}: ${this.typeOf(of)}`,
        );
        if (members.length > 0) return `{ ${members.join("; ")} }`;
        return schema.additionalProperties === false ? "Record<string, never>" : "object";
      }
      default:
        throw new Error(`no type for ${JSON.stringify(schema)}`);
    }
  }
}
