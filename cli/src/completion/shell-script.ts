/** The tree of commands as a completion of bash or zsh. Pure. */
import type { CommandNode, Place } from "./command-tree.ts";

/** Words go into a script: no sign that a shell reads may stand in one. */
const PLAIN = /^[\w.:/-]+$/;

/**
 * Both shells walk the words before the cursor: `at` names the command so far, `nth` counts its arguments, `value` is what an option
 * before the cursor takes. They differ in how words are had and offered.
 */
const DIALECTS = {
  bash: {
    head: `# resontech completion for bash. Load it: eval "$(resontech completion bash)"
_resontech() {
  local self=$1 cur=\${COMP_WORDS[COMP_CWORD]} at="" value="" nth=0 what="" i word
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}`,
    tail: `  case $what in
    words:*) mapfile -t COMPREPLY < <(compgen -W "\${what#words:}" -- "$cur") ;;
    ids:*) mapfile -t COMPREPLY < <("$self" completion ids "\${what#ids:}" -- "$cur" 2>/dev/null | cut -f 1) ;;
    files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
  esac
}
complete -F _resontech resontech
`,
  },
  zsh: {
    head: `#compdef resontech
# resontech completion for zsh. Load it after compinit: eval "$(resontech completion zsh)"
_resontech() {
  local self=$words[1] cur=$words[CURRENT] at="" value="" nth=0 what="" i word
  local -a found ids
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]`,
    tail: `  case $what in
    words:*) found=(\${(z)\${what#words:}}); compadd -a found ;;
    ids:*)
      found=(\${(f)"$("$self" completion ids "\${what#ids:}" -- "$cur" 2>/dev/null)"})
      ids=(\${found%%$'\\t'*})
      found=(\${found//$'\\t'/  })
      compadd -U -l -d found -a ids ;;
    files) _files ;;
  esac
}
if [[ $funcstack[1] == _resontech ]]; then _resontech "$@"; else compdef _resontech resontech; fi
`,
  },
} as const;
export type ShellName = keyof typeof DIALECTS;
export const SHELLS = Object.keys(DIALECTS) as ShellName[];

export function shellScript(shell: ShellName, tree: readonly CommandNode[]): string {
  const { head, tail } = DIALECTS[shell];
  const values = tree.flatMap(({ path, options }) =>
    options.flatMap(({ names, value }) =>
      value === null ? [] : names.map((name) => `"${path}:${name}") value=${told(value)} ;;`),
    ),
  );
  const commands = tree
    .filter(({ path }) => path !== "")
    .map(({ path }) => {
      const cut = path.lastIndexOf(" ");
      return `"${path.slice(0, Math.max(0, cut))}:${path.slice(cut + 1)}"`;
    });
  const options = tree.map(
    ({ path, options: known }) =>
      `"${path}") what="${told({ kind: "words", words: known.flatMap(({ names }) => names) }, false)}" ;;`,
  );
  const places = tree.flatMap(({ path, commands: words, places: known, isVariadic }) =>
    words.length > 0
      ? [`"${path}:0") what=${told({ kind: "words", words })} ;;`]
      : known.map((place, nth) => {
          const isRest = isVariadic && nth === known.length - 1;
          return `"${path}:"${isRest ? "*" : nth}) what=${told(place)} ;;`;
        }),
  );
  const lines = (all: readonly string[], indent: string) =>
    all.map((line) => `${indent}${line}\n`).join("");
  return `${head}
    if [[ -n $value ]]; then value=""; continue; fi
    case "$at:$word" in
${lines(values, "      ")}      ${commands.join("|")}) at="\${at:+$at }$word"; nth=0 ;;
      *:-*) ;;
      *) nth=$((nth + 1)) ;;
    esac
  done
  if [[ -n $value ]]; then what=$value
  elif [[ $cur == -* ]]; then
    case $at in
${lines(options, "      ")}    esac
  else
    case "$at:$nth" in
${lines(places, "      ")}    esac
  fi
${tail}`;
}

/** One word of the script, which its last part reads. */
function told(place: Place, isQuoted = true): string {
  if (place.kind === "ids") return `ids:${place.of}`;
  if (place.kind !== "words") return place.kind;
  const odd = place.words.find((word) => !PLAIN.test(word));
  if (odd !== undefined) throw new Error(`a shell would read ${JSON.stringify(odd)}`);
  const words = `words:${place.words.join(" ")}`;
  return isQuoted ? `"${words}"` : words;
}
