/**
 * `requirements.txt` against what a job image holds: PEP 508 lines (names, extras, version specifiers, environment markers,
 * comments, continuation lines). Nothing can be fetched inside the perimeter, so options, files and URLs are refused.
 */
import { satisfies, valid, validRange } from "@renovatebot/pep440";
import type { JobImage } from "@resontech/contracts/coordinator-config";
import { ApiError } from "../../../api-error.ts";
import { evaluateMarker, type MarkerEnvironment } from "./marker.ts";

export const MAX_REQUIREMENTS_BYTES = 64 * 1024;
const MAX_LINES = 2_000;

const LINE =
  /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*([^;]*?)\s*(?:;\s*(.+))?$/;
const EXTRA = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

type Packages = Pick<JobImage, "packages" | "pythonVersion" | "profile">;

/** What an image lacks: a package, or its version; and the sentence that says so. */
export type Lacking = { kind: "package" | "version"; sentence: string };

/** @throws ApiError requirement_invalid, requirement_unsupported; requirement_unavailable with all that the image lacks */
export function checkRequirements(text: string, image: Packages): void {
  const lacking = lackingOf(text, image, "requirements.txt line");
  if (lacking.length > 0)
    throw new ApiError(
      "requirement_unavailable",
      lacking.map(({ sentence }) => sentence).join("; "),
    );
}

/**
 * @param place what a line is called: its number follows
 * @throws ApiError requirement_invalid, requirement_unsupported
 */
export function lackingOf(text: string, image: Packages, place: string): Lacking[] {
  const environment: MarkerEnvironment = { pythonVersion: image.pythonVersion };
  return logicalLines(text).flatMap(
    ({ line, number }) => checkLine(line, `${place} ${number}`, image, environment) ?? [],
  );
}

/** @returns what the image lacks for it; null when it has it, or need not */
function checkLine(
  line: string,
  at: string,
  image: Packages,
  environment: MarkerEnvironment,
): Lacking | null {
  if (line.startsWith("-"))
    throw new ApiError("requirement_unsupported", `${at}: pip options are not available`);
  if (/^\.{0,2}\/|^[A-Za-z][A-Za-z0-9+.-]*:\/\/|\s--|@/.test(line)) {
    throw new ApiError(
      "requirement_unsupported",
      `${at}: files, URLs and options are not available`,
    );
  }
  const [, name, extras, rawSpecifier = "", marker] = LINE.exec(line) ?? [];
  if (name === undefined)
    throw new ApiError("requirement_invalid", `${at} is not a PEP 508 requirement`);
  if (
    extras !== undefined &&
    !extras.split(",").every((extra) => extra.trim() === "" || EXTRA.test(extra.trim()))
  ) {
    throw new ApiError("requirement_invalid", `${at}: the extras are not valid`);
  }
  const specifier = rawSpecifier.replace(/^\((.*)\)$/, "$1").trim();
  if (specifier !== "" && !validRange(specifier)) {
    throw new ApiError(
      "requirement_invalid",
      `${at}: ${JSON.stringify(specifier.slice(0, 80))} is not a version specifier`,
    );
  }
  const applies = marker === undefined ? true : evaluateMarker(marker, environment);
  if (applies === null)
    throw new ApiError("requirement_invalid", `${at}: the environment marker is not valid`);
  if (!applies) return null;
  const normalized = name.toLowerCase().replaceAll(/[-_.]+/g, "-");
  const version = Object.hasOwn(image.packages, normalized)
    ? image.packages[normalized]
    : undefined;
  if (version === undefined)
    return {
      kind: "package",
      sentence: `${at}: ${normalized} is not in the job image ${image.profile}`,
    };
  if (
    specifier !== "" &&
    valid(version) !== null &&
    !satisfies(version, specifier, { prereleases: true })
  ) {
    return {
      kind: "version",
      sentence: `${at}: the job image ${image.profile} has ${normalized} ${version}, not ${specifier}`,
    };
  }
  return null;
}

/** pip's reading: a backslash joins lines, ` #` starts a comment, blank lines are nothing. */
function logicalLines(text: string): { line: string; number: number }[] {
  const physical = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
  if (physical.length > MAX_LINES)
    throw new ApiError("requirement_invalid", `requirements.txt has more than ${MAX_LINES} lines`);
  const lines: { line: string; number: number }[] = [];
  let joined = "";
  let start = 1;
  for (const [index, part] of physical.entries()) {
    if (joined === "") start = index + 1;
    const isComment = /^\s*#/.test(part);
    if (part.endsWith("\\") && !isComment) {
      joined += part.slice(0, -1);
      continue;
    }
    const line = (joined + part).replace(/(^|\s+)#.*$/, "").trim();
    joined = "";
    if (line !== "") lines.push({ line, number: start });
  }
  if (joined.trim() !== "") lines.push({ line: joined.trim(), number: start });
  return lines;
}
