// How much an MCP server may send between two of our messages. One that sends more is disconnected.
import { KB, MB } from '../../domain/byte-units.ts';

/** The largest message. */
export const MAX_MESSAGE_BYTES = 8 * MB;
const MAX_BYTES = 2 * MAX_MESSAGE_BYTES;
const MAX_MESSAGES = 10_000;
/** Limit for output that is not a message, over a server's lifetime. */
const MAX_NOISE_BYTES = 64 * KB;

export interface Allowance {
  /** Each of our messages restores the server's full allowance. */
  renew(): void;
  /** Returns false when the allowance is used up. */
  takeMessage(bytes: number): boolean;
  takeNoise(bytes: number): boolean;
}

/** The allowance of one connection. */
export function makeAllowance(): Allowance {
  let bytes = 0;
  let messages = 0;
  let noise = 0;
  return {
    renew: () => {
      bytes = 0;
      messages = 0;
    },
    takeMessage: (length) => {
      bytes += length;
      messages += 1;
      return bytes <= MAX_BYTES && messages <= MAX_MESSAGES;
    },
    takeNoise: (length) => {
      // Inspecting a short line costs nearly as much as a long one.
      noise += length + 64;
      return noise <= MAX_NOISE_BYTES;
    },
  };
}
