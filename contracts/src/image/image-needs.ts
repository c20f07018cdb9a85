/** What an image for accelerators asks of a device, and whether a device has it. Pure. */
import { type Static, Type } from "typebox";

export const ImageNeeds = Type.Object(
  {
    vendor: Type.Union([Type.Literal("nvidia"), Type.Literal("amd"), Type.Literal("intel")]),
    /** The oldest driver that loads the image's libraries: `525.60.13`. */
    leastDriver: Type.String({ pattern: "^\\d+(\\.\\d+)*$", maxLength: 64 }),
    /** Architectures that the image has code for, as a device's inventory names them: `7.5`, `gfx942`. */
    architectures: Type.Array(Type.String({ pattern: "^[a-z0-9.-]{1,32}$" }), { minItems: 1 }),
  },
  { additionalProperties: false },
);
export type ImageNeeds = Static<typeof ImageNeeds>;

/** The part of a worker's inventory that decides. */
export type DeviceFacts = {
  kind: "gpu" | "cpu";
  vendor?: "nvidia" | "amd" | "intel" | undefined;
  architecture?: string | undefined;
  driver?: string | undefined;
};

/**
 * Null when the worker runs the image; else why not, as an end of "n workers …".
 * An image without needs is for processors. A device that says neither driver nor architecture is not guessed at.
 */
export function whyUnfit(needs: ImageNeeds | null, device: DeviceFacts): string | null {
  if (needs === null) return device.kind === "cpu" ? null : "that are accelerators";
  if (device.kind === "cpu") return "without an accelerator";
  if (device.vendor !== needs.vendor) return `not of ${needs.vendor}`;
  if (device.driver === undefined) return "whose driver is unknown";
  if (compareVersions(device.driver, needs.leastDriver) < 0)
    return `whose driver ${device.driver} is older than ${needs.leastDriver}`;
  if (device.architecture === undefined) return "whose architecture is unknown";
  return needs.architectures.some((built) => runsOn(built, device.architecture ?? ""))
    ? null
    : `of architecture ${device.architecture}, which the image has no code for`;
}

/**
 * Device code of one compute capability runs on later ones of the same major number, and on no other:
 * https://docs.nvidia.com/cuda/cuda-c-programming-guide/#binary-compatibility. Other vendors' names must be equal.
 */
function runsOn(built: string, device: string): boolean {
  const [mine, its] = [capability(built), capability(device)];
  if (mine === null || its === null) return built === device;
  return mine.major === its.major && mine.minor <= its.minor;
}

function capability(text: string): { major: number; minor: number } | null {
  const match = /^(\d+)\.(\d+)$/.exec(text);
  return match === null ? null : { major: Number(match[1]), minor: Number(match[2]) };
}

/** Compares by numbers, part by part; what is missing counts as 0. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split(/[^0-9]+/).map(Number));
  for (let at = 0; at < Math.max(left!.length, right!.length); at++) {
    const difference = (left![at] ?? 0) - (right![at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
