// What administrators read of sessions over HTTP, on a real store with artifacts, and sessions to read.
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { Catalog, CatalogModel } from '../../../src/catalog/kinds/models.ts';
import { makeEmptyArchives } from '../../../src/execution/artifacts/packing/empty-archives.ts';
import { makeFileAddresses } from '../../../src/files/file-address.ts';
import { makeAccess } from '../../../src/operations/access.ts';
import { makeAuditedAccess } from '../../../src/operations/audited-access.ts';
import { makeOfficeOperations } from '../../../src/operations/office/office.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { type ArtifactFixture, artifactFixture } from '../files/artifact-fixture.ts';
import { auditOf } from '../store/audit.ts';
import { aStep, fenceOf } from '../store/store-fixture.ts';
import { waitFor } from '../time/wait-for.ts';
import { openFixture, send } from './http-fixture.ts';

const BASE = '/api/v1/office-mode';
export const AT = '2026-03-01T12:00:00.000Z';
/** When the run of `finished` ends. */
export const ENDED = '2026-03-01T12:00:02.500Z';
export const MODEL = {
  name: 'scripted',
  price: { inputPerMillionUsd: 100, outputPerMillionUsd: 500, cacheReadPerMillionUsd: 0, cacheWritePerMillionUsd: 0 },
};

export type OfficeSessions = Awaited<ReturnType<typeof officeSessions>>;

/** Serves the reads of sessions; `get` sends one as an administrator, and `data` expects it to succeed. */
export async function officeSessions() {
  const model = { contextWindow: 8_192 } as CatalogModel;
  const models = new Map([['scripted', model]]);
  const catalog: Catalog = { endpoints: new Map(), models, scenarios: new Map(), defaultScenario: '' };
  const rows = await artifactFixture();
  const { store, clock } = rows;
  const secret = randomBytes(32);
  const addresses = makeFileAddresses({ deriveKey: () => secret, now: clock.now });
  const operations = makeOfficeOperations({
    store,
    clock,
    auditedAccess: makeAuditedAccess({ access: makeAccess(store), audit: auditOf({ store }) }),
    catalog: () => catalog,
    fileAddresses: addresses,
    emptyArchives: makeEmptyArchives(rows.parts),
    collector: { packOnRequest: async () => null },
  });
  const fixture = await openFixture({ operations, settings: { publicUrl: 'http://errand' } });
  const get = (path: string, as = 'admin-key') => send(fixture, { path: `${BASE}${path}`, as });
  const data = async (path: string) => {
    const { status, json } = await get(path);
    expect([path, status, json]).toMatchObject([path, 200, { code: 0 }]);
    return (json as { data: unknown }).data;
  };
  return { rows, addresses, models, get, data, ...sessionsIn(rows) };
}

function sessionsIn(rows: ArtifactFixture) {
  const { store, clock } = rows;
  return {
    /** A finished run that said something, used two tools and wrote a file; its session. */
    finished: async (): Promise<ClaimedRun> => {
      const team = await store.teams.create({ name: 'Blue', budgetUsd: 9 });
      await store.users.change('mara', { teamId: team.id });
      const run = await rows.begin();
      const fence = fenceOf(run);
      const calls = [
        { id: 'call_1', name: 'shell', input: { command: 'make' } },
        { id: 'call_2', name: 'write_file', input: { path: 'a.txt' } },
      ];
      clock.advance(1_500);
      await store.runs.recordStep({ ...fence, workedMs: 1_500 }, aStep({ text: 'I begin.', calls }), MODEL);
      for (const [index, { id: toolUseId, name }] of calls.entries()) {
        const result = { step: 1, toolUseId, name, ok: index === 1, output: `out ${index}`, durationMs: 20 };
        await store.runs.recordToolResult(fence, result);
      }
      clock.advance(1_000);
      await store.runs.recordStep({ ...fence, workedMs: 2_500 }, aStep({ step: 2, text: 'Done.' }), MODEL);
      rows.write(run, { 'site/a.txt': 'hello' });
      await rows.end(run, { outcome: 'completed', answer: 'Done.', stopReason: 'end_turn' });
      return run;
    },

    /** Another run of its session, at its first tool call. */
    working: async ({ sessionId }: ClaimedRun): Promise<ClaimedRun> => {
      clock.advance(60_000);
      const run = await rows.begin(sessionId);
      const calls = [
        { id: 'call_1', name: 'shell', input: { command: 'python plot.py' } },
        { id: 'call_9', name: 'shell', input: {} },
      ];
      await store.runs.recordStep(fenceOf(run), aStep({ calls }), MODEL);
      return run;
    },

    /** A run of its session, or of a new one, that has failed. */
    failed: async ({ sessionId }: { readonly sessionId: string | null }): Promise<ClaimedRun> => {
      const run = await rows.begin(sessionId);
      const error = { type: 'api_error', message: 'The model is gone.', retryable: true } as const;
      await rows.end(run, { outcome: 'failed', error });
      return run;
    },

    /** Waits until its session's files and archives are there. */
    collected: async (run: ClaimedRun): Promise<void> => {
      rows.collect().wake(run.sessionSeq);
      await waitFor(async () => (await rows.exportOf(run)).status === 'ready');
    },
  };
}
