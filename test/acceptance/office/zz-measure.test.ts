import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeClient } from '../../../src/client/client.ts';
import { startFeed } from '../../../src/tui/feed/feed.ts';
import { makeStore } from '../../../src/tui/app/store.ts';
import { floor } from '../../../src/tui/state/screens.ts';
import { initialState } from '../../../src/tui/state/state.ts';
import { chromium } from '../../support/agent/browser-run.ts';
import { startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { look, startBrowser } from '../../support/publishing/look.ts';
const cpuOf = (pid: number) => {
  const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(f[11]) + Number(f[12])) / 100;
};
test('measure', async () => {
  const model = await startModelServer({ record: false });
  model.script(({ step }) => ({
    text: Array.from({ length: 40 }, (_, at) => `word ${at} of step ${step}. `),
    deltaMs: 50,
    tools: [{ name: 'list_files', input: { path: `/` } }],
  }));
  const daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: 'workers: { threads: 2, runs_per_thread: 4 }\nlimits: { run_steps: 5000 }\n',
  }).catch(() =>
    startDaemonProcess({ modelServerUrl: model.url, errandYaml: 'workers: { threads: 2, runs_per_thread: 4 }\n' }),
  );
  const begin = () =>
    fetch(`${daemon.url}/openapi/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'go' }] }),
    }).then((r) => r.body!.cancel());
  const N = 10,
    SECONDS = 25;
  const lines: string[] = [];
  const top = async () => {
    const { data } = (await (
      await fetch(`${daemon.url}/api/v1/office-mode/snapshot?limit=96`, {
        headers: { authorization: `Bearer ${daemon.apiKey}` },
      })
    ).json()) as { data: { overview: { running: number; pending: number } } };
    for (let n = data.overview.running + data.overview.pending; n < 6; n += 1) await begin();
    return data.overview.running;
  };
  const measure = async (name: string) => {
    const before = await top();
    await new Promise((r) => setTimeout(r, 3000));
    const a = cpuOf(daemon.pid()),
      t = performance.now();
    await new Promise((r) => setTimeout(r, SECONDS * 1000));
    const share = (cpuOf(daemon.pid()) - a) / ((performance.now() - t) / 1000);
    lines.push(`${name}: ${(share * 100).toFixed(1)}% (running ${before} -> ${await top()})`);
    writeFileSync('/tmp/bw/watchers.txt', lines.join('\n'));
    return share;
  };
  const browser = chromium.ok ? await startBrowser(chromium.executable) : null;
  for (let round = 0; round < 2; round += 1) {
    await measure(`none ${round}`);
    const feeds = Array.from({ length: N }, () => {
      const client = makeClient({ url: daemon.url, token: daemon.apiKey });
      const store = makeStore(initialState({ tz: 'UTC', intervalMs: 5000 }, [floor()], Date.now()), {
        frameMs: 66,
        now: Date.now,
        isBusy: () => false,
      });
      return startFeed({ client, get: store.get, dispatch: store.dispatch, take: store.take, now: Date.now });
    });
    await measure(`${N} terminals ${round}`);
    feeds.forEach((feed) => feed.stop());
    const pages = [];
    for (let at = 0; at < N; at += 1) {
      const made = await fetch(`${daemon.url}/api/v1/office-mode/links`, {
        method: 'POST',
        headers: { authorization: `Bearer ${daemon.apiKey}` },
      });
      const { data } = (await made.json()) as { data: { url: string } };
      pages.push(await look(browser!, `${daemon.url}/office${new URL(data.url).hash}`));
    }
    await measure(`${N} browsers ${round}`);
    for (const page of pages) await page.close();
  }
  await browser?.close();
  await daemon.close();
  await model.close();
  expect(1).toBe(1);
}, 600_000);
