import { useEffect } from "react";
import type { StateWord } from "./state-word.ts";
import { faviconOf, tabTitle } from "./tab-words.ts";

/** The browser's tab says which page this is, and by word and colour how what it shows is. */
export function useTab(about: string, state?: StateWord): void {
  const word = state?.word;
  const tone = state?.tone;
  useEffect(() => {
    document.title = tabTitle(about, word);
    document.querySelector<HTMLLinkElement>("link[rel=icon]")!.href = faviconOf(tone);
  }, [about, word, tone]);
}
