/** The files that a declared part reads: what is derived for them. */
import {
  type FramelessPart,
  type OwnPart,
  type PartDeclaration,
  type PartFacts,
  secretOf,
} from "@resontech/frame/define-part";
import type { Layout } from "@resontech/frame/layout";
import { processConfigOf } from "@resontech/frame/process-config";

/** Lists a part's files in an order of their own. A container, which is given its configuration, has none; nor have root's programs. */
export function configFilesOf(part: PartDeclaration, layout: Layout): string[] {
  if ("image" in part || "hosts" in part) return [];
  if ("files" in part) return part.files.map(({ name }) => secretOf(part, layout, name));
  return [layout.processConfig(part.name)];
}

/** What these files are to have, in the same order. */
export function derivedConfigs(part: PartDeclaration, facts: PartFacts): string[] {
  if ("image" in part || "hosts" in part) return [];
  if ("files" in part) return part.files.map(({ text }) => text(facts));
  return [`${JSON.stringify(configOf(part, facts), null, 2)}\n`];
}

function configOf(part: OwnPart | FramelessPart, facts: PartFacts): unknown {
  return "config" in part ? processConfigOf(part, facts) : part.ownConfig.from(facts);
}
