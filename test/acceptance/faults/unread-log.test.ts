import { afterEach, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const REQUESTS = 400;
/** Long enough for the lines of all requests to be more than the pipe and the daemon hold. */
const PATH = `/${'x'.repeat(8_000)}`;

let daemon: DaemonProcess | undefined;
afterEach(async () => {
  await daemon?.close();
});

async function withUnreadLog(): Promise<DaemonProcess> {
  daemon = await startDaemonProcess();
  daemon.readStderr(false);
  for (let i = 0; i < REQUESTS; i += 1) expect((await fetch(daemon.url + PATH)).status).toBe(404);
  return daemon;
}

test('a daemon whose log nobody reads continues, and reports how many lines were lost once it is read again', async () => {
  const { url, stderr, readStderr } = await withUnreadLog();
  expect((await fetch(url + PATH)).status).toBe(404);
  readStderr(true);
  const linesOf = () =>
    stderr()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as { msg: string; dropped?: number; path?: string });
  await waitFor(() => linesOf().some(({ dropped }) => dropped !== undefined));
  expect((await fetch(`${url}/after`)).status).toBe(404);
  await waitFor(() => linesOf().some(({ path }) => path === '/after'));
  const lines = linesOf();
  const dropped = lines.find((line) => line.dropped !== undefined)!;
  expect(dropped.msg).toBe(`${dropped.dropped} lines dropped: the log could not be written`);
  const logged = lines.filter(({ path }) => path === PATH).length;
  expect(logged + dropped.dropped!).toBe(REQUESTS + 1);
});

test('a daemon whose log nobody reads ends on SIGTERM', async () => {
  const { stop } = await withUnreadLog();
  expect(await stop()).toEqual({ code: 0, signal: null });
});
