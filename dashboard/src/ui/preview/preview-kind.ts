/** How a file is looked at before it is downloaded, by its name. Pure. */
export type PreviewKind = "text" | "table" | "json" | "image" | "safetensors" | "arrays" | "torch";

const ENDS: readonly (readonly [PreviewKind, RegExp])[] = [
  ["table", /\.(csv|tsv)$/],
  ["json", /\.json$/],
  ["image", /\.(png|jpe?g|gif|webp|avif|bmp)$/],
  ["safetensors", /\.safetensors$/],
  ["arrays", /\.np[yz]$/],
  ["torch", /\.(pt|pth|ckpt)$/],
  [
    "text",
    /(\.(txt|log|jsonl|ndjson|md|py|sh|ya?ml|toml|ini|cfg|xml|html?|css|js|ts|r|sql|svg)|(^|\/)(README|LICENSE|requirements))$/,
  ],
];

/** Null for what nobody can look at in a page. */
export function previewKind(key: string): PreviewKind | null {
  const name = key.toLowerCase();
  return ENDS.find(([, end]) => end.test(name))?.[0] ?? null;
}

/** What an image is told to a page as. */
export function imageType(key: string): string {
  const end = key.slice(key.lastIndexOf(".") + 1).toLowerCase();
  return `image/${end === "jpg" ? "jpeg" : end}`;
}
