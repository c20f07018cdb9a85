/** `<root>/etc/<part>.json`: what first boot derives for a process from its declaration, and what the process reads. */
import { type Static, type TSchema, Type } from "typebox";
import { type OwnPart, type PartFacts, socketOf } from "./define-part.ts";

const closed = { additionalProperties: false } as const;
const SocketPath = Type.String({ pattern: "^/", minLength: 2, maxLength: 107 });

/** @property own as the part itself declares it */
export type ProcessConfig<Config extends TSchema> = {
  logLevel: string;
  /** Where to listen, by the name of the socket. */
  sockets: Record<string, string>;
  /** Its own folder; null where it keeps nothing. */
  dataDir: string | null;
  own: Static<Config>;
};

export function processConfigSchema<Config extends TSchema>({
  sockets,
  config,
}: Pick<OwnPart<Config>, "sockets" | "config">): TSchema {
  return Type.Object(
    {
      logLevel: Type.String(),
      sockets: Type.Object(
        Object.fromEntries(Object.keys(sockets).map((name) => [name, SocketPath])),
        closed,
      ),
      dataDir: Type.Union([Type.String({ pattern: "^/" }), Type.Null()]),
      own: config.schema,
    },
    closed,
  );
}

export function processConfigOf<Config extends TSchema>(
  part: OwnPart<Config>,
  facts: PartFacts,
): ProcessConfig<Config> {
  const { layout } = facts;
  return {
    logLevel: "info",
    sockets: Object.fromEntries(
      Object.keys(part.sockets).map((name) => [name, socketOf(part, layout, name)]),
    ),
    dataDir: part.data === null ? null : layout.data(part.name),
    own: part.config.from(facts),
  };
}
