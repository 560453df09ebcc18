// The limits of a thread's heap.
import { setFlagsFromString } from 'node:v8';
import type { ResourceLimits } from 'node:worker_threads';

/**
 * Two semi-spaces and what survives in them. Little more is used by runs that wait for their models. It must be less than the 16 MB
 * that Node.js gives a thread at its limit to end in: a larger one can move there at once, and V8 then ends the whole process.
 */
const YOUNG_GENERATION_MB = 12;

/**
 * The options of a thread with so much heap. V8 ends a thread whose heap grows past it in small steps; what takes more than 16 MB
 * at once ends the process instead (0007).
 */
export function heapLimits(memoryMb: number): ResourceLimits {
  // The launcher's `--max-old-space-size` is for the main thread, which has it already. V8 would prefer it to the limit of a thread.
  setFlagsFromString('--max-old-space-size=0');
  return { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
}
