// What a model reads of an action that did not finish in time.
import { expect, test, vi } from 'vitest';
import { openBrowser } from '../../../src/agent/browser/open-browser.ts';
import { makeRunBrowser } from '../../../src/agent/browser/run-browser.ts';

vi.mock('../../../src/agent/browser/open-browser.ts', () => ({ openBrowser: vi.fn() }));

const NO_ADDRESS = 'The host db.corp.example has no address that may be reached.';

/** The words for an error of the library, with what the browser knows. */
async function wordsFor(message: string, knows: { readonly refusal?: string; readonly unresolved?: string }) {
  const browser = {
    front: () => ({}),
    alive: () => true,
    refusalOf: () => knows.refusal ?? null,
    unresolved: () => knows.unresolved ?? null,
    close: async () => undefined,
  };
  vi.mocked(openBrowser).mockResolvedValue(browser as never);
  const run = { channel: { halt: new AbortController() }, brief: {} } as never;
  const { onPage } = makeRunBrowser(run, { timeoutMs: 30_000 } as never);
  const { output } = await onPage(true, async () => Promise.reject(new Error(message)));
  return output;
}

test('a name whose look-up outlasts the action reads like one without an address', async () => {
  const refused = await wordsFor('page.goto: net::ERR_TUNNEL_CONNECTION_FAILED at https://db.corp.example/', {
    refusal: NO_ADDRESS,
  });
  const late = await wordsFor('page.goto: Timeout 30000ms exceeded.\nCall log:', { unresolved: NO_ADDRESS });
  expect(refused).toContain(NO_ADDRESS);
  expect(late).toEqual(refused);
});

test('any other action that takes too long says how to go on', async () => {
  const late = await wordsFor('page.goto: Timeout 30000ms exceeded.\nCall log:', {});
  expect(late).toContain('did not finish within 30 s');
});
