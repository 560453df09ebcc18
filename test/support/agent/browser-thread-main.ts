// A thread with a browser in it, for a test that ends the thread. Posts `open` when the browser has a page.
import { parentPort, workerData } from 'node:worker_threads';
import { openBrowser } from '../../../src/agent/browser/open-browser.ts';
import type { BrowserGrant } from '../../../src/agent/port/grants.ts';

const { grant, runId } = workerData as { grant: BrowserGrant; runId: string };
const browser = await openBrowser(grant, { runId, egress: [] });
await browser.newPage();
parentPort?.postMessage('open', []);
