// The input of an archive format: names, and the bytes of their blobs in chunks.
import type { Writable } from 'node:stream';
import type { ReadBlob } from '../snapshots/read-blob.ts';
import type { SnapshotFile } from '../snapshots/snapshot.ts';

export interface Packing {
  readonly files: readonly SnapshotFile[];
  readonly bytesOf: ReadBlob;
  readonly to: Writable;
  readonly signal: AbortSignal;
}

const [MIN_WINDOW, MAX_WINDOW] = [9, 15];

/** The memory for compressing some bytes: that for many is cleared for each archive, which takes longer than a few bytes do. */
export function memoryFor(bytes: number): { readonly windowBits: number; readonly memLevel: number } {
  const windowBits = Math.min(MAX_WINDOW, Math.max(MIN_WINDOW, Math.ceil(Math.log2(bytes + 1))));
  return { windowBits, memLevel: windowBits - 7 };
}
