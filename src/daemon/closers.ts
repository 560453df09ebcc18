// Closes what was opened, in reverse order.

export type Closer = () => Promise<void> | void;

/** Closes everything, the last first. */
export async function closeAll(closers: Closer[]): Promise<void> {
  for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closer();
}
