/** What a module loads when it runs: types are gone by then. Reads the text, without a compiler: `dev/test/sight/source-tree.engines.test.ts` compares it with one. */

/** `import type … from "x"`, `export type … from "x"`. */
const OF_TYPES =
  /^(?:import|export)\s+type\s+(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+)\s+from\s*"[^"]*"/gm;
/** `import … from "x"`, `export … from "x"`, `import "x"`, `import("x")`, `import.meta.resolve("x")`, `require("x")`; a specifier has no blank. */
const NAMED =
  /(?:\bfrom\s*|\b(?:import(?:\.meta\.resolve)?|require)\s*\(?\s*(?:\/\*[^*]*\*\/\s*)?)"([^"\s]+)"/g;
/** What is commented out imports nothing. A string may hold `//`, but no line begins within one. */
const COMMENTED = /^\s*(?:\/\/|\*|\/\*).*$/gm;
/** A module that only running code can name; in the text of another program a path stands there, which is read as one. */
const UNNAMED = /\bimport\(\s*(?!\$\{)[^\s"/]/;

export type RuntimeImports = {
  specifiers: readonly string[];
  /** It loads something whose name nobody can read in its text. */
  hasUnnamed: boolean;
};

export function runtimeImports(text: string): RuntimeImports {
  const code = text.replaceAll(COMMENTED, "");
  const specifiers = [...code.replaceAll(OF_TYPES, "").matchAll(NAMED)].map(
    ([, specifier = ""]) => specifier,
  );
  return { specifiers: [...new Set(specifiers)], hasUnnamed: UNNAMED.test(code) };
}
