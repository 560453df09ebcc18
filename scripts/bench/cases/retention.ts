// Removing the journal of 100,000 runs: how fast it goes, and what requests notice of it.
import { statSync } from 'node:fs';
import { waitFor } from '../../../test/support/time/wait-for.ts';
import { closedLoop, pause, quantile } from '../load.ts';
import { type ErrandServer, startErrand } from '../servers/start.ts';
import { fillStore, inStore, storeFileOf } from '../stores/fill-store.ts';
import type { Figures, Scale } from './scale.ts';

const SESSIONS = 100_000;
const AGE_MS = 40 * 86_400_000;
const SHOT = { text: 'Tell it. [[text=Done.]]', stream: false, expect: /Done/ } as const;
const CLIENTS = 4;
/** How long a start has work of its own. */
const START_MS = 10_000;
const KEEP_ALL = 'retention: { exports_days: 0 }\n';
const KEEP_A_MONTH = 'retention: { exports_days: 0, runs_days: 30 }\n';

interface Report {
  readonly pass: {
    readonly ended_at: string | null;
    readonly removed: readonly { kind: string; rows: number }[];
  } | null;
}

/** Measures the same load before and while rows are removed. */
export async function measureRetention(
  { modelUrl, scratch, say }: { readonly modelUrl: string; readonly scratch: string; say(text: string): void },
  { loadMs }: Scale,
): Promise<Figures> {
  const errand = await startErrand(modelUrl, scratch, KEEP_ALL);
  const { daemon } = errand;
  try {
    await closedLoop(errand.target, SHOT, 1, { forMs: 10_000, atMost: 1 });
    const { items } = (await daemon.admin('GET', '/api/v1/sessions')) as { items: { session_id: string }[] };
    await daemon.stop();
    const events = fillStore(daemon.dataDir, items[0]!.session_id, SESSIONS);
    inStore(daemon.dataDir, (database) => {
      database.exec(`UPDATE runs SET finished_at = finished_at - ${AGE_MS} WHERE seq > 1;
        UPDATE events SET created_at = created_at - ${AGE_MS} WHERE session_seq > 1;
        UPDATE webhook_planning SET cursor = (SELECT max(id) FROM events)`);
    });
    say(`${events} events`);
    await daemon.restart();
    await pause(START_MS);
    const alone = await loadOf(errand, loadMs);
    const mb = () => statSync(storeFileOf(daemon.dataDir)).size / 1_048_576;
    const before = mb();
    await errand.restartWith(KEEP_A_MONTH);
    const startedAt = performance.now();
    await pause(START_MS);
    const during = await loadOf(errand, loadMs);
    const removed = await untilRemoved(errand);
    return {
      retentionEvents: events,
      retentionAloneP50Ms: alone.p50,
      retentionAloneP99Ms: alone.p99,
      retentionP50Ms: during.p50,
      retentionP99Ms: during.p99,
      retentionPauseMs: during.pauseMs,
      retentionAlonePauseMs: alone.pauseMs,
      retentionRowsPerSecond: (removed * 1_000) / (performance.now() - startedAt),
      retentionMbBefore: before,
      retentionMbAfter: mb(),
    };
  } finally {
    await errand.close();
  }
}

async function loadOf(errand: ErrandServer, forMs: number) {
  const tookMs: number[] = [];
  const { maxMs } = await errand.loopDelay(async () => {
    const { results } = await closedLoop(errand.target, SHOT, CLIENTS, { forMs });
    tookMs.push(...results.map(({ totalMs }) => totalMs));
  });
  return { p50: quantile(tookMs, 0.5), p99: quantile(tookMs, 0.99), pauseMs: maxMs };
}

/** Returns how many rows were removed. */
async function untilRemoved({ daemon }: ErrandServer): Promise<number> {
  const pass = await waitFor(
    async () => {
      const report = (await daemon.admin('GET', '/api/v1/retention')) as Report;
      return report.pass?.ended_at === null ? undefined : report.pass;
    },
    { everyMs: 1_000, timeoutMs: 600_000, what: 'everything old is removed' },
  );
  return pass?.removed.reduce((sum, { kind, rows }) => (kind === 'free_pages' ? sum : sum + rows), 0) ?? 0;
}
