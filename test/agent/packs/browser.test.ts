// The browser's tools, against a real Chromium and a site on loopback. Without Chromium they are skipped, and say so.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { imageSize } from 'image-size';
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest';
import { takenBytes } from '../../../src/agent/sandbox/process-tree.ts';
import { aSite, browserRun, chromium, type Handler, refOf, sandbox } from '../../support/agent/browser-run.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const FORM = `<title>Tides</title><h1>High water</h1><form action="/result"><label>Port <input name="port"></label>
<label>Day <select name="day"><option>Today<option>Tomorrow</select></label><button>Search</button></form>
<a href="/more">More</a>`;

/** Kills processes, some of which end with others of them. */
function kill(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Tests of a describe one after the other, while another describe has its turn. */
const inTurn = { concurrent: false };

const html =
  (text: string): Handler =>
  (_, res) =>
    void res.setHeader('content-type', 'text/html').end(text);

describe.skipIf(!chromium.ok)('the browser', { concurrent: true }, () => {
  const ends: (() => void | Promise<void>)[] = [];
  const of = { onTestFinished: (end: () => void | Promise<void>) => void ends.unshift(end) };
  let site: Awaited<ReturnType<typeof aSite>>;
  let run: Awaited<ReturnType<typeof browserRun>>;
  let tries = '';

  beforeAll(async () => {
    site = await aSite(of, {
      '/': FORM,
      '/result': (req, res) => html(`<title>Found</title><p>For ${req.url}`)(req, res),
      '/long': `<title>Long</title>${'<p style="height:40px">the tide turns again'.repeat(1_000)}`,
      '/first':
        '<title>First</title><button onclick="for (let i = 0; i < 7; i++) window.open(\'/third\')">Many</button>',
      '/second': '<title>Second</title><p>here',
      '/third': '<title>Third</title><p>there',
      '/asks':
        '<title>Asks</title><script>onbeforeunload=(e)=>{e.preventDefault();return "stay?"}</script><button onclick="document.title=confirm(\'sure?\')">Ask</button><a href="/file" download>Take</a>',
      '/file': (_, res) => res.setHeader('content-type', 'application/octet-stream').end('bytes'),
      '/next': '<title>Next</title>',
      '/slow': () => undefined,
      '/tries': (req, res) => html(tries)(req, res),
    });
    run = await browserRun(of, [site.port], { grant: { timeoutMs: 15_000 } });
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test('opens a page, fills in its form and sends it, and stores a picture of each step', inTurn, async () => {
    const opened = await run.call('browser_open', { url: site.url });
    expect(opened).toMatchObject({ ok: true, output: expect.stringContaining(`Page: Tides\nAddress: ${site.url}/`) });
    const { output } = opened;
    await run.call('browser_type', { ref: refOf(output, /textbox "Port"/), text: 'Brest & co' });
    await run.call('browser_type', { ref: refOf(output, /combobox "Day"/), text: 'Tomorrow' });
    const found = await run.call('browser_click', { ref: refOf(output, /button "Search"/) });
    expect(found.output).toContain('Page: Found');
    expect(found.output).toContain('For /result?port=Brest+%26+co&day=Tomorrow');
    expect(run.pictures.map(({ callId, mimeType }) => [callId, mimeType])).toEqual(
      ['call-1', 'call-2', 'call-3', 'call-4'].map((id) => [id, 'image/jpeg']),
    );
    expect(imageSize(run.pictures[0]!.bytes)).toMatchObject({ width: 1280, height: 800, type: 'jpg' });
  });

  test('continues to read a long page, and stores a picture of all of it', inTurn, async () => {
    const before = run.pictures.length;
    const { output } = await run.call('browser_open', { url: `${site.url}/long` });
    expect(output).toMatch(/\[\d+ more characters: call browser_read with offset 20000\.\]$/);
    const next = await run.call('browser_read', { offset: 20_000 });
    expect(next.output).toContain('the tide turns');
    expect(run.pictures).toHaveLength(before + 1);
    const kept = await run.call('browser_screenshot', { full_page: true });
    expect(kept).toEqual({ ok: true, output: `A picture of ${site.url}/long was stored.` });
    expect(imageSize(run.pictures[before + 1]!.bytes)).toMatchObject({ width: 1280, height: 8000 });
  });

  test('is not held up by dialogs, and takes no downloads', inTurn, async () => {
    const page = await run.call('browser_open', { url: `${site.url}/asks` });
    expect((await run.call('browser_click', { ref: refOf(page.output, /button "Ask"/) })).output).toContain(
      'Page: false',
    );
    expect((await run.call('browser_click', { ref: refOf(page.output, /link "Take"/) })).ok).toBe(true);
    expect((await run.call('browser_open', { url: `${site.url}/next` })).output).toContain('Page: Next');
  });

  test.for([
    ['file:///etc/passwd', 'Only http and https addresses can be opened.'],
    ['chrome://version', 'Only http and https addresses can be opened.'],
    ['javascript:alert(1)', 'Only http and https addresses can be opened.'],
    ['data:text/html,x', 'Only http and https addresses can be opened.'],
    ['http://', 'That is not a web address.'],
  ])('does not open %s', inTurn, async ([url, output]) => {
    expect(await run.call('browser_open', { url })).toEqual({ ok: false, output });
  });

  test('says what is wrong: no such element, no such page, a page that does not answer', inTurn, async () => {
    await run.call('browser_open', { url: site.url });
    const stale = await run.call('browser_click', { ref: 'e999' });
    expect(stale).toEqual({
      ok: false,
      output: expect.stringContaining('Call browser_read for its current references.'),
    });
    const gone = await run.call('browser_open', { url: `${site.url}/gone` });
    expect(gone).toMatchObject({ ok: true, output: expect.stringContaining('The server replied with status 404.') });
    const nowhere = await run.call('browser_open', { url: 'https://nowhere.invalid/' });
    expect(nowhere.output).toBe(
      'The page could not be opened: The host nowhere.invalid has no address that may be reached.',
    );
    const slow = await run.call('browser_open', { url: `${site.url}/slow` });
    expect(slow).toEqual({ ok: false, output: expect.stringContaining('The action did not finish within 15 s.') });
  });
  test(
    'reaches no private address, neither by its own name nor by a page that fetches, frames, sockets and WebRTC it',
    inTurn,
    async (of) => {
      const secret = await aSite(of, { '/': 'the secret' });
      const reached: string[] = [];
      const raw = createServer((socket) => {
        reached.push('tcp');
        socket.destroy();
      });
      await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
      of.onTestFinished(() => void raw.close());
      const rawPort = (raw.address() as AddressInfo).port;
      const hosts = ['127.0.0.1', 'localhost', '[::1]', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '0.0.0.0'];
      tries = `<title>Tries</title><pre id=log>…</pre><script>
        const log = []; const done = () => { document.title = 'Done'; document.getElementById('log').textContent = log.join(' '); };
        const hosts = ${JSON.stringify(hosts)};
        const tries = hosts.flatMap((host) => [${secret.port}, ${rawPort}].flatMap((port) => [
          fetch('http://' + host + ':' + port + '/', { mode: 'no-cors' }).then((r) => log.push('fetch ' + r.status), () => 0),
          new Promise((r) => { const s = new WebSocket('ws://' + host + ':' + port + '/'); s.onopen = () => { log.push('ws'); r(); }; s.onerror = r; }),
          new Promise((r) => { const i = new Image(); i.onload = () => { log.push('img'); r(); }; i.onerror = r; i.src = 'http://' + host + ':' + port + '/x.png'; }),
        ]));
        const pc = new RTCPeerConnection({ iceServers: [{ urls: 'turn:127.0.0.1:${rawPort}?transport=tcp', username: 'a', credential: 'b' }] });
        pc.onicecandidate = (e) => e.candidate && log.push('ice ' + e.candidate.candidate);
        pc.createDataChannel('x'); pc.createOffer().then((o) => pc.setLocalDescription(o));
        Promise.all(tries).then(() => setTimeout(done, 300));
      </script><iframe src="http://127.0.0.1:${secret.port}/"></iframe>`;
      for (const host of hosts) {
        const { output } = await run.call('browser_open', { url: `http://${host}:${secret.port}/` });
        expect(output).not.toContain('the secret');
      }
      await run.call('browser_open', { url: `${site.url}/tries` });
      const { output } = await waitFor(async () => {
        const view = await run.call('browser_read');
        return view.output.includes('Page: Done') && view;
      });
      expect(output).not.toContain('the secret');
      expect(output).not.toMatch(/fetch 200|\bws\b|\bimg\b|ice .* (?:host|relay|srflx)/);
      expect(secret.asked).toEqual([]);
      expect(reached).toEqual([]);
    },
  );

  test('outlasts a page that opens many windows', inTurn, async () => {
    const first = await run.call('browser_open', { url: `${site.url}/first` });
    // The click itself may well run out of time over it.
    await run.call('browser_click', { ref: refOf(first.output, /button "Many"/) });
    const after = await waitFor(async () => {
      const view = await run.call('browser_open', { url: `${site.url}/second` });
      return view.ok && view;
    });
    expect(after.output).toContain('Page: Second');
  });
});

describe.skipIf(!chromium.ok)('nothing of the browser survives', { concurrent: true }, () => {
  const started = async (of: TestContext) => {
    const site = await aSite(of, { '/': FORM, '/slow': () => undefined });
    const run = await browserRun(of, [site.port], { grant: { timeoutMs: 30_000 } });
    await run.call('browser_open', { url: site.url });
    expect(run.processes()).not.toEqual([]);
    return { run, site };
  };

  test('a stop in the middle of a page that does not answer', inTurn, async (of) => {
    const { run, site } = await started(of);
    const opening = run.call('browser_open', { url: `${site.url}/slow` });
    await waitFor(() => site.asked.includes('GET /slow'));
    run.stop();
    await expect(opening).rejects.toThrow();
    await waitFor(() => run.processes().length === 0);
  });

  test('the end of its thread', inTurn, async (of) => {
    const { brief, processes } = await browserRun(of, []);
    const grant = brief.equipment.browser;
    const thread = new Worker(new URL('../../support/agent/browser-thread-main.ts', import.meta.url), {
      workerData: { grant, runId: brief.runId },
    });
    await once(thread, 'message');
    expect(processes()).not.toEqual([]);
    await thread.terminate();
    await waitFor(() => processes().length === 0);
  });

  test('its own death, when the next use starts a new one, and the end of its run', inTurn, async (of) => {
    const { run, site } = await started(of);
    kill(run.processes());
    await waitFor(() => run.processes().length === 0);
    const again = await waitFor(async () => {
      const view = await run.call('browser_open', { url: site.url });
      return view.ok && view;
    });
    expect(again.output).toContain('Page: Tides');
    expect(run.processes()).not.toEqual([]);
    await run.opened.close();
    expect(run.processes()).toEqual([]);
  });

  test(
    'a page that takes all the memory it may have: it gets no more, and the next page is there',
    inTurn,
    async (of) => {
      const site = await aSite(of, {
        '/': `<title>Greedy</title><script>const a = []; const more = () => {
        try { a.push(new Uint8Array(5e7).fill(1)); setTimeout(more, 10); } catch (error) { document.title = 'Full'; }
      }; more();</script>`,
        '/ok': '<title>Fine</title>',
      });
      const memoryBytes = 700 * 1024 * 1024;
      const run = await browserRun(of, [site.port], { grant: { sandbox: { ...sandbox!, memoryBytes } } });
      await run.call('browser_open', { url: site.url });
      await waitFor(async () => {
        const { ok, output } = await run.call('browser_read');
        return !ok || output.includes('Page: Full');
      });
      const taken = await Promise.all(run.processes().map((pid) => takenBytes(pid, 0)));
      expect(Math.max(0, ...taken)).toBeLessThan(memoryBytes * 1.2);
      const after = await waitFor(async () => {
        const view = await run.call('browser_open', { url: `${site.url}/ok` });
        return view.ok && view;
      });
      expect(after.output).toContain('Page: Fine');
    },
  );

  test('a page whose script never yields does not block forever', inTurn, async (of) => {
    const site = await aSite(of, {
      '/': '<title>Busy</title><button onclick="for(;;);">Go</button>',
      '/ok': '<title>Fine</title>',
    });
    const run = await browserRun(of, [site.port], { grant: { timeoutMs: 1_000 }, limitMs: 4_000 });
    const shown = await waitFor(async () => {
      const view = await run.call('browser_open', { url: site.url });
      return view.ok && view;
    });
    const clicked = await run.call('browser_click', { ref: refOf(shown.output, /button "Go"/) });
    const pictured = await run.call('browser_screenshot', { full_page: true });
    // The click ends after 1 s, unless the machine is so slow that the page is closed over it.
    expect([clicked, pictured]).toContainEqual({
      ok: false,
      output: 'The page did not respond within 4 s, and was closed.',
    });
    const after = await waitFor(async () => {
      const view = await run.call('browser_open', { url: `${site.url}/ok` });
      return view.ok && view;
    });
    expect(after.output).toContain('Page: Fine');
  });
});

test('a run that was granted no browser has none of its tools', async (of) => {
  const { opened } = await browserRun(of, [], { grant: null });
  expect(opened).toMatchObject({ tools: [], notes: [] });
});
