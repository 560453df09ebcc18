// Times of published pages as the public reads them (§2.13).

const BEIJING_MS = 8 * 3_600_000;

/** `YYYY-MM-DD HH:mm:ss` in Beijing time, which has had no summer time since 1991. */
export function beijingTime(at: number): string {
  return new Date(at + BEIJING_MS).toISOString().slice(0, 19).replace('T', ' ');
}
