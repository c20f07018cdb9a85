/** Plain JavaScript: set-up asks before there is a Node that runs TypeScript. */

/** What the kernel's overlay mounts take for the end of a folder, and what breaks shell and log lines. */
const BREAKS = /[,:\\"'`$\n\t]/;
/** Tests install below it, and the installer takes roots of at most 160 bytes. */
const MAX_BYTES = 160;

/**
 * @param {string} path
 * @returns {string | null} why nothing can be built below this path; null where it can
 */
export function refusalOfClone(path) {
  const found = BREAKS.exec(path);
  if (found !== null)
    return `the path of this clone has the character ${JSON.stringify(found[0])}: ${path}`;
  if (Buffer.byteLength(path) > MAX_BYTES)
    return `the path of this clone is longer than ${MAX_BYTES} bytes: ${path}`;
  return null;
}
