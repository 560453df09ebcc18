// Requests that can't be repeated without harm: sent until their effect is known, with a count of those that may have one later.
import { setTimeout as sleep } from 'node:timers/promises';
import type { NoReply, Reply } from './operator.ts';

/**
 * By what the effect of a request is known by: how many such requests, whose replies were lost, may have one that came after it was looked
 * for. A daemon may have read a request, or its database may have been sent the commit, before whoever asked was cut off.
 */
export type Late = ReadonlyMap<string, number>;

export interface OnceRequest<T> {
  /** What its effect is known by. */
  readonly name: string;
  readonly pauseMs: number;
  send(): Promise<Reply | NoReply>;
  /** The result of a reply; undefined when it is to be sent again. Throws at one that must not be. */
  take(reply: Reply): T | undefined;
  /** What it has made, if it is there. */
  look(): Promise<T | undefined>;
}

/** Sends a request until its effect is known: by its reply, or by a look where there is none. Counts in `late`. */
export async function untilKnown<T>(late: Map<string, number>, request: OnceRequest<T>): Promise<T> {
  const { name, pauseMs, send, take, look } = request;
  const note = (count: number) => void (count > 0 && late.set(name, (late.get(name) ?? 0) + count));
  for (let lost = 0; ; ) {
    const reply = await send();
    if (reply === 'lost') lost += 1;
    const result = typeof reply === 'string' ? await look() : take(reply);
    if (result !== undefined) {
      // What is found after a loss is of one that was lost; a refusal says nothing of those before.
      note(reply === 'lost' ? lost - 1 : lost);
      return result;
    }
    await sleep(pauseMs);
  }
}

/** Returns what says of each effect that nobody knows whether a late request accounts for it; each does for one. */
export function makeAccount(late: Late): (name: string | null) => boolean {
  const left = new Map(late);
  return (name) => {
    const count = name === null ? 0 : (left.get(name) ?? 0);
    if (count > 0) left.set(name!, count - 1);
    return count > 0;
  };
}
