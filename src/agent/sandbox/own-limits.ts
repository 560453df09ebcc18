// The limits of this process, which those of a sandbox must not exceed: only root can raise one.
import { readFileSync } from 'node:fs';

/** Names as /proc has them. */
export type LimitName = 'Max processes' | 'Max open files' | 'Max locked memory' | 'Max pending signals';

/** A limit of this process that it can't raise (`hard`) or that is in effect (`soft`); infinite when there is none. */
export function ownLimit(name: LimitName, kind: 'soft' | 'hard', limits: string = readLimits()): number {
  const [, soft, hard] = new RegExp(`^${name} +(\\S+) +(\\S+)`, 'm').exec(limits) ?? [];
  const words = kind === 'soft' ? soft : hard;
  return words === undefined || words === 'unlimited' ? Infinity : Number(words);
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
