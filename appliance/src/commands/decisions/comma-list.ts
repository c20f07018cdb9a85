import { InvalidArgumentError } from "commander";

/** Reads `node-a,node-b`. Pure. @throws InvalidArgumentError which says what to write */
export function commaList(text: string): string[] {
  const items = text.split(",").map((item) => item.trim());
  if (items.some((item) => item === "") || new Set(items).size < items.length)
    throw new InvalidArgumentError("Write each once, with commas in between.");
  return items;
}
