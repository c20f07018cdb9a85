/** Times and sizes in the words of findings. Pure. */
const GIB = 1024 ** 3;

export function toldSpan(ms: number): string {
  return Math.abs(ms) < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

export function toldSize(bytes: number): string {
  return bytes < GIB ? `${Math.floor(bytes / 1024 ** 2)} MiB` : `${(bytes / GIB).toFixed(1)} GiB`;
}
