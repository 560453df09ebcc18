// `errand runs explain`: a picture on a terminal, columns in a pipe, the whole document as JSON.
import { expect, test } from 'vitest';
import { renderTimeline } from '../../../../src/http/sessions/timeline-wire.ts';
import { timeline } from '../../../../src/wire/sessions/timeline.ts';
import { fitsSchema } from '../../../support/http/fits-schema.ts';
import { aCall, anExplanation, aSpan } from '../../../support/store/timelines.ts';
import { run, startFakeDaemon } from '../../outside.ts';

const DOCUMENT = renderTimeline(anExplanation());
const ID = DOCUMENT.run.run_id;
const ARGS = ['runs', 'explain', ID];

async function explained(args: readonly string[], over: Partial<typeof DOCUMENT> = {}, isTerminal = false) {
  const document = { ...DOCUMENT, ...over };
  const { dataDir } = await startFakeDaemon({ [`GET /api/v1/runs/${ID}/timeline`]: () => document });
  return run([...ARGS, ...args], { dataDir, columns: 110, terminal: { stdout: isTerminal, stderr: isTerminal } });
}

test('every kind of span fits the shape', () => {
  expect(fitsSchema(timeline, JSON.parse(JSON.stringify(DOCUMENT)))).toBe(true);
});

test('a pipe gets a line for each span, and JSON the document as it came', async () => {
  const piped = await explained([]);
  const lines = piped.stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(DOCUMENT.spans.length);
  expect(lines[0]).toBe('queue\t2026-03-01T12:00:00.000Z\t41000\t\t\t\t\t\twaited for a worker: all 8 slots taken');
  expect(JSON.parse((await explained(['-o', 'json'])).stdout)).toEqual(DOCUMENT);
});

test('a terminal gets a picture in its width, the steps with their cost, and what was slow', async () => {
  const { stdout, code } = await explained([], {}, true);
  expect(code).toBe(0);
  expect(stdout).toContain(`Run ${ID}: failed after 2 min 18 s, 2 steps, 900 → 100 tokens, $0.0400\napi_error: No.\n`);
  const line = stdout.split('\n').find((one) => one.includes('waited for a worker'));
  expect(line).toMatch(/^ +\+0 ms +41 s +30 % █{7}\S? +waited for a worker: all 8 slots taken$/);
  expect(stdout).toContain('step 1: delegate to reader');
  expect(stdout).toMatch(/\$0\.0300/);
  expect(stdout).toContain('Slow\n  waited 1 min for an answer of its user\n');
  const spans = stdout.split('\n').filter((one) => /^ +\+/.test(one));
  expect(spans.map((one) => one.length <= 110)).toEqual(DOCUMENT.spans.map(() => true));
});

test.each([
  ['coarse', 'An earlier version recorded some of it'],
  ['removed', 'The details of this run were removed'],
] as const)('a time line that is %s says so', async (detail, words) => {
  expect((await explained([], { detail }, true)).stdout).toContain(words);
});

test('a run under way says so, and names from outside draw nothing on the terminal', async () => {
  const evil = aSpan(aCall({ agent: 'a\u001b[31mb', purpose: 'agent', step: null }), 0, null);
  const open = renderTimeline(anExplanation([evil], { finishedAt: null, status: 'running', error: null }));
  const { stdout } = await explained([], open, true);
  expect(stdout).toContain('running for 5 min so far');
  expect(stdout).toContain('the sub-agent ab: qwen, under way');
  expect(stdout).not.toContain('\u001b[31m');
});
