import { partNamed } from "@resontech/frame/part-facts";
import type { PartContext } from "../parts/context.ts";
import { derivedConfigs } from "../parts/derived-config.ts";
import { partFactsOf } from "../parts/part-facts-of.ts";
import { configDigest, startedConfig } from "../parts/started-config.ts";

/** Finds those of these parts that run with another configuration than the one that is derived from what is set now. */
export function outdatedParts(context: PartContext, names: readonly string[]): string[] {
  const facts = partFactsOf(context);
  return names.filter((name) => {
    const started = startedConfig(context.layout, name);
    if (started === null) return false;
    return started !== configDigest(derivedConfigs(partNamed(context.parts, name), facts));
  });
}
