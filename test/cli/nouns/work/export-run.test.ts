// `errand runs export`: what the daemon returns, without what the caller holds as secret, in a new file of the owner's own.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderTimeline } from '../../../../src/http/sessions/timeline-wire.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { anExplanation } from '../../../support/store/timelines.ts';
import { run, startFakeDaemon } from '../../outside.ts';

const EXPLAINED = renderTimeline(anExplanation());
const { run_id: ID } = EXPLAINED.run;
const KEY = 'errand_abcd1234_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefg';
const VARIABLE = 'canary-variable-2e7f11';
const EXPORT = {
  format: 'errand-run-export',
  version: 1,
  run: EXPLAINED.run,
  conversation: [{ role: 'user', content: `With "${VARIABLE}" and ${KEY}.` }],
};
const environment = { SERVICE_TOKEN: VARIABLE };

const startWithRun = () => startFakeDaemon({ [`GET /api/v1/runs/${ID}/export`]: () => EXPORT });

test('a file has what the daemon returned, without secrets of the caller, for its owner only', async () => {
  const { dataDir } = await startWithRun();
  const to = join(temporaryDirectory(), 'run.json');
  const ended = await run(['runs', 'export', ID, '--to', to], { dataDir, environment });
  expect(ended.code).toBe(0);
  const document = JSON.parse(readFileSync(to, 'utf8'));
  expect(document.conversation).toEqual([{ role: 'user', content: 'With "[credential]" and [removed].' }]);
  expect(document.run).toEqual(EXPLAINED.run);
  expect(statSync(to).mode & 0o777).toBe(0o600);
});

test('standard output gets the document alone, and a file is never written over', async () => {
  const { dataDir } = await startWithRun();
  const piped = await run(['runs', 'export', ID, '--to', '-'], { dataDir });
  expect(JSON.parse(piped.stdout)).toMatchObject({ format: 'errand-run-export', version: 1 });
  const to = join(temporaryDirectory(), 'run.json');
  await run(['runs', 'export', ID, '--to', to], { dataDir });
  expect(await run(['runs', 'export', ID, '--to', to], { dataDir })).toMatchObject({ code: 6 });
});
