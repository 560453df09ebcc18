// Runs before the tests of each file: whatever they fetch from a daemon is held against the shape of its route.
import type { SeenReply } from './route-table.ts';

const { fetch } = globalThis;

// Files that share a process share its globals: there it is the one of the file before.
if (fetch.name !== fetchAndHold.name) globalThis.fetch = fetchAndHold;

async function fetchAndHold(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(input, init);
  const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  // Only daemons name their requests so.
  if (isJson && response.headers.has('x-request-id') && method !== 'HEAD') {
    // Most tests need no daemon.
    const { holdReply } = await import('./route-table.ts');
    const text = await response.clone().text();
    const path = new URL(response.url).pathname;
    const reply: SeenReply = { method, path, status: response.status, json: JSON.parse(text) };
    holdReply(reply);
  }
  return response;
}
