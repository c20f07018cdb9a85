/** Words of the appliance as a sentence of a page: its shells begin them in lower case. Pure. */
export function sentenceCase(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
