/** Which types of event bear on which control of a framework: data of the product's policies, read from a file. */
import { EVENT_TYPES } from "@resontech/contracts/audit-catalogue";
import { readFile } from "node:fs/promises";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { ConfigError } from "../config.ts";

const closed = { additionalProperties: false } as const;
/** As the framework writes it: `164.308(a)(1)(ii)(D)`, `CC6.1`, `Article 32`. No `;`: ids are listed with it between. */
const ControlId = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9 .,()/_-]{0,79}$" });
const Framework = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200 }),
    controls: Type.Array(
      Type.Object(
        {
          id: ControlId,
          title: Type.String({ minLength: 1, maxLength: 200 }),
          /** What no log of the appliance can show for it. */
          limits: Type.String({ minLength: 1, maxLength: 400 }),
          types: Type.Array(Type.Enum(EVENT_TYPES), { minItems: 1, maxItems: 200 }),
        },
        closed,
      ),
      { minItems: 1, maxItems: 500 },
    ),
  },
  closed,
);
export type Framework = Static<typeof Framework>;
const ControlMap = Type.Record(Type.String({ pattern: "^[a-z0-9-]{1,32}$" }), Framework);

/** @throws ConfigError for a file that is no map, or has no such framework */
export async function readFramework(file: string, name: string): Promise<Framework> {
  let map: unknown;
  try {
    map = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new ConfigError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!Value.Check(ControlMap, map))
    throw new ConfigError(
      `${file}: ${Value.Errors(ControlMap, map)[0]?.instancePath ?? "/"} is wrong`,
    );
  const framework = Object.hasOwn(map, name) ? map[name] : undefined;
  if (framework === undefined)
    throw new ConfigError(
      `${file}: there is no framework ${name}; there are ${Object.keys(map).join(", ")}`,
    );
  return framework;
}
