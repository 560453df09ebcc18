// Counts what this process has used models for: reads the ledger from where it stood last, so that nothing is done when a call is recorded.
import type { LedgerLine } from '../../store/telemetry/metric-reads.ts';
import type { Store } from '../../store/open-store.ts';
import type { BoundedName } from './bounded-names.ts';
import type { Meters } from './meters.ts';

const LINES_PER_READ = 500;
/** In one go; what is left is read by the next. */
const MAX_READS = 40;

/** Stands for usage of users without a team. */
const UNASSIGNED = 'unassigned';

export interface UsageParts {
  readonly store: Pick<Store, 'metrics'>;
  readonly meters: Meters;
  readonly models: BoundedName;
  readonly teams: BoundedName;
}

/** Returns a function that counts the lines since its last call, the first time since `from`. */
export function makeUsageCounts({ store, meters, models, teams }: UsageParts, from: number): () => Promise<void> {
  let last = from;

  function count(line: LedgerLine): void {
    const labels = { model: models(line.model), team: line.team === null ? UNASSIGNED : teams(line.team) };
    const fresh = Math.max(0, line.inputTokens - line.cacheReadTokens - line.cacheWriteTokens);
    const kinds = [
      ['input', fresh],
      ['output', line.outputTokens],
      ['cache_read', line.cacheReadTokens],
      ['cache_write', line.cacheWriteTokens],
    ] as const;
    for (const [kind, tokens] of kinds) if (tokens > 0) meters.add('errand_tokens_total', { ...labels, kind }, tokens);
    meters.add('errand_cost_usd_total', labels, line.costUsd);
    if (line.firstTokenMs !== null)
      meters.observe('errand_first_token_seconds', { model: labels.model }, line.firstTokenMs / 1_000);
  }

  return async () => {
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      const { lines, lastSeq, more } = await store.metrics.ownLinesAfter(last, LINES_PER_READ);
      for (const line of lines) count(line);
      last = lastSeq;
      if (!more) return;
    }
  };
}
