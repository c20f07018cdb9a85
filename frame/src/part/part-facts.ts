import {
  type HostReader,
  type PartDeclaration,
  type PartFacts,
  secretOf,
  socketOf,
} from "./define-part.ts";

/** What the declarations of these parts are read with. */
export function partFacts(
  of: Pick<PartFacts, "layout" | "appliance" | "release" | "parts" | "host">,
  host: HostReader,
): PartFacts {
  const { layout, parts } = of;
  return {
    ...of,
    ...host,
    socket: (part, socket) => socketOf(partNamed(parts, part), layout, socket),
    secret: (part, file) => secretOf(partNamed(parts, part), layout, file),
  };
}

/** @throws TypeError */
export function partNamed(parts: readonly PartDeclaration[], name: string): PartDeclaration {
  const part = parts.find((one) => one.name === name);
  if (part === undefined) throw new TypeError(`no part is named ${name}`);
  return part;
}
