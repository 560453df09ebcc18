// The cases of listing: a page of a key's sessions, from the first and from the middle of them all.
import { makeCaller } from '../calls.ts';
import type { Figures, Scale } from './scale.ts';
import type { Target } from '../load.ts';
import { callInLoop, quantile } from '../load.ts';

const PAGE = 100;

/** Requests pages one after another. Adds failures to `failures`. */
export async function listPages(target: Target, scale: Scale, failures: string[]): Promise<Figures> {
  const caller = makeCaller(target, 1);
  const pageAt = async (offset: number) => {
    const path = `/openapi/v1/sessions?limit=${PAGE}&offset=${offset}`;
    const { body, tookMs } = await caller.call({ method: 'GET', path, expect: 200 });
    return { total: (body as { total: number }).total, tookMs };
  };
  const times = async (offset: number): Promise<number[]> => {
    const limit = { forMs: Number.POSITIVE_INFINITY, atMost: scale.single };
    const { results, failures: failed } = await callInLoop(1, limit, () => pageAt(offset));
    failures.push(...failed);
    return results.map((result) => result.tookMs);
  };
  await times(0);
  const { total } = await pageAt(0);
  const first = await times(0);
  const middle = await times(Math.floor(total / 2));
  await caller.close();
  return {
    listedSessions: total,
    listFirstP50Ms: quantile(first, 0.5),
    listFirstP99Ms: quantile(first, 0.99),
    listMiddleP50Ms: quantile(middle, 0.5),
    listMiddleP99Ms: quantile(middle, 0.99),
  };
}
