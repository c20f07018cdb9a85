export type NetworkBytes = { received: number; sent: number };

const NAME_AND_COUNTS = /^\s*([^:\s]+):\s*(.*)$/;
/** Of the counts of a device: bytes received come first, bytes sent ninth. */
const SENT = 8;

/**
 * Reads `/proc/PID/net/dev`. Pure.
 * @param counts which devices; the loopback is never one
 * @returns null where none of them is there
 */
export function networkBytesOf(
  text: string,
  counts: (device: string) => boolean = () => true,
): NetworkBytes | null {
  const devices = text.split("\n").flatMap((line): NetworkBytes[] => {
    const [, device, values = ""] = NAME_AND_COUNTS.exec(line) ?? [];
    if (device === undefined || device === "lo" || !counts(device)) return [];
    const numbers = values.trim().split(/\s+/).map(Number);
    return [{ received: numbers[0] ?? 0, sent: numbers[SENT] ?? 0 }];
  });
  if (devices.length === 0) return null;
  return {
    received: devices.reduce((sum, { received }) => sum + received, 0),
    sent: devices.reduce((sum, { sent }) => sum + sent, 0),
  };
}
