// The page of Office Mode in a real browser, before a scripted daemon that has bad days. Without Chromium these tests are skipped, and say so.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { chromium } from '../../support/agent/browser-run.ts';
import { startOfficePage } from '../../support/http/office-page.ts';
import {
  anEntity,
  anEvent,
  aSnapshot,
  AT,
  aTeam,
  type OfficeServer,
  runId,
  sessionId,
} from '../../support/http/office-server.ts';
import { aDaemon, KEY, type VisitOptions, visitOffice } from '../../support/http/office-visit.ts';
import { findings, look, startBrowser } from '../../support/publishing/look.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let browser: Browser;
beforeAll(async () => {
  if (chromium.ok) browser = await startBrowser(chromium.executable);
});
afterAll(() => browser?.close());

const visit = (daemon: OfficeServer, options?: VisitOptions) => visitOffice(browser, daemon, options);

const titles = (page: Page) => page.locator('.runs tbody td.title').allInnerTexts();

const HOSTILE = [
  '<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>',
  '\u001b[31mred\u001b[0m \u001b]0;title\u0007after',
  'invoice \u202egpj.exe',
  `${'long '.repeat(2000)}end`,
  'مرحبا بالعالم 12 גבעה',
  '{{7*7}} ${7*7} javascript:alert(1) \' " `',
];

describe.runIf(chromium.ok)('the page of Office Mode', () => {
  test('the code of a link is used once and leaves the address; what follows is a floor without a complaint', async () => {
    const { page, office, until, complaints, requests } = await visit(await aDaemon());
    await until('Plot the sales of quarter 1');
    expect(page.url()).toBe(office.root);
    expect(await page.locator('.runs tbody tr').count()).toBe(1);
    expect(requests.every((address) => address.startsWith(office.root))).toBe(true);
    expect(complaints).toEqual([]);
  });

  test('a link that is opened again where it has logged in shows the floor', async () => {
    const { page, office, until } = await visit(await aDaemon());
    await until('Plot the sales of quarter 1');
    await page.goto('about:blank');
    await page.goto(`${office.root}#code=first`);
    await until('Plot the sales of quarter 1');
    expect(page.url()).toBe(office.root);
  });

  test('who has nothing, a code that was used, or a key that is none, is told why; a key that is pasted lets them in', async () => {
    const { page, office, until, complaints } = await visit(await aDaemon(), { isKnown: false });
    await until('errand office --web');
    await page.locator('#key').fill('ek-other');
    await page.keyboard.press('Enter');
    await until('This key is not valid.');
    await page.locator('#key').fill(KEY);
    await page.keyboard.press('Enter');
    await until('Plot the sales of quarter 1');
    expect(await page.evaluate('document.cookie + localStorage.length + sessionStorage.length')).toBe('00');
    // Where it is open already, only what follows # is another.
    await page.goto(`${office.root}#code=used`);
    await until(/used already, or it is older than five minutes/);
    expect(complaints.filter((complaint) => !complaint.includes('401'))).toEqual([]);
  });

  test('hostile titles are texts: nothing runs, nothing is obeyed, and no row is broken', {
    tags: ['G25'],
  }, async () => {
    const entities = HOSTILE.map((title, at) =>
      anEntity(at + 1, { session_title: title, title, full_name: title, detail: title }),
    );
    const { page, until, complaints } = await visit(await aDaemon(aSnapshot(entities)));
    await until('javascript:alert(1)');
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    const shown = await titles(page);
    expect(shown.join('\n')).toContain('<img src=x onerror=');
    for (const part of ['\u001b', '\u202e', '[31m']) expect(shown.join('\n')).not.toContain(part);
    expect(Math.max(...shown.map((title) => title.length))).toBeLessThan(500);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(complaints).toEqual([]);
  });

  test('axe finds nothing on the floor, at a desk, among the keys and at the login; light, dark and on a phone', async () => {
    const daemon = await aDaemon(
      aSnapshot(HOSTILE.map((title, at) => anEntity(at + 1, { session_title: title, title }))),
    );
    daemon.emit(anEvent(1, 'run.started', { attempt: 1, model: 'm' }));
    const looks = [
      { colorScheme: 'light' },
      { colorScheme: 'dark' },
      { viewport: { width: 390, height: 844 } },
    ] as const;
    for (const options of looks) {
      const { page, until } = await visit(daemon, options);
      await until('javascript:alert(1)');
      expect(await findings(page)).toEqual([]);
      await page.keyboard.press('?');
      await until('back to the floor');
      expect(await findings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await until('run started with m');
      expect(await findings(page)).toEqual([]);
      await page.getByRole('button', { name: 'Log out' }).click();
      await until('errand office --web');
      expect(await findings(page)).toEqual([]);
    }
  });

  test('keys do as on a terminal, the address has what is chosen, and the way back leads back', async () => {
    const entities = [1, 2, 3].map((at) => anEntity(at, { team_id: at === 3 ? 't2' : 't1', total_cost_usd: at }));
    const { page, office, until } = await visit(await aDaemon(aSnapshot(entities)));
    await until('quarter 3');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await until('2/3');
    expect(await page.evaluate('document.activeElement.closest("tr").getAttribute("data-row")')).toBe(runId(2));
    await page.getByRole('button', { name: 'Cost' }).click();
    await until('by cost');
    await waitFor(() => page.url() === `${office.root}?order=cost`);
    await page.keyboard.press('/');
    await page.keyboard.type('quarter 3');
    await waitFor(async () => (await titles(page)).length === 1);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await waitFor(() => page.url() === `${office.root}/sessions/${sessionId(3)}`);
    await page.keyboard.press('4');
    await waitFor(() => page.url().endsWith('?tab=files'));
    await page.goBack();
    await waitFor(() => page.url() === `${office.root}?order=cost&find=quarter+3`);
    await until('quarter 3');
    await page.keyboard.press('Escape');
    await waitFor(async () => (await titles(page)).length === 3);
  });

  test('streams that are cut, and a daemon that dies, cost no event: the page resumes after the last one', {
    tags: ['G25'],
  }, async () => {
    const daemon = await aDaemon();
    const { office, until, page } = await visit(daemon);
    /** The next snapshot says the same. */
    const read = (name: string) => {
      daemon.snapshot = aSnapshot([anEntity(1, { detail: `reads ${name}` })]);
      daemon.emit(anEvent(1, 'tool_use', { tool_use_id: name, name: 'read_file', input: { path: `/${name}` } }));
    };
    const resumedAfter = (id: string) =>
      office.requests.some(({ path, lastEventId }) => path.endsWith('/api/stream') && lastEventId === id);
    await until(/● live/);
    read('one.md');
    await until('reads one.md');
    office.cut();
    read('two.md');
    await until('reads two.md');
    // The picture may be that of before the cut, with what a snapshot said: the new stream is to have the event, too.
    await waitFor(() => resumedAfter('1') && office.streams() === 1);
    await until(/● live/);
    await daemon.die();
    await until(/not reachable|reconnecting|502/);
    await until('reads two.md');
    await daemon.rise();
    read('three.md');
    await until('reads three.md');
    await waitFor(() => resumedAfter('2'));
    await until(/● live/);
    expect(await page.locator('[role=status]').first().innerText()).toBe('live');
  });

  test('behind a proxy that keeps what streams send, the page is as new as its snapshots', {
    tags: ['G25'],
  }, async () => {
    const daemon = await aDaemon();
    const office = await startOfficePage(daemon);
    onTestFinished(() => office.close());
    office.holds = true;
    office.codes.add('held');
    const seen = await look(browser, `${office.root}#code=held`);
    onTestFinished(() => seen.close());
    const text = () => seen.page.locator('#office').innerText();
    await waitFor(async () => /◌ connecting[^]*Plot the sales/.test(await text()));
    daemon.snapshot = aSnapshot([anEntity(1, { detail: 'reads later.md' })]);
    await waitFor(async () => (await text()).includes('reads later.md'));
  });

  test('all of five hundred runs come as one scrolls to the end, and only their own rows change', async () => {
    // What lasts longer is said how long, in all rows, should a snapshot be late.
    const updated_at = new Date(AT + 3_600_000).toISOString();
    const entities = Array.from({ length: 500 }, (_, at) => anEntity(at + 1, { updated_at }));
    const snapshot = aSnapshot(entities.slice(0, 96));
    const daemon = await aDaemon({ ...snapshot, overview: { ...snapshot.overview, running: 500 } });
    daemon.live = entities;
    const { page, until } = await visit(daemon);
    await until('96 of 500');
    await waitFor(async () => {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      return (await page.locator('[data-row]').count()) === 500;
    });
    await page.evaluate('scrollTo(0, 0)');
    await page.evaluate(`
      globalThis.touched = new Set();
      const observer = new MutationObserver((changes) => {
        for (const { target } of changes) {
          const row = (target.nodeType === 1 ? target : target.parentElement)?.closest('[data-row]');
          const cell = (target.nodeType === 1 ? target : target.parentElement)?.closest('td');
          if (cell?.className === 'now') touched.add(row.dataset.row);
        }
      });
      observer.observe(document.querySelector('.runs tbody'), { subtree: true, childList: true, characterData: true });
    `);
    const changed = [3, 480];
    // Snapshots of later have it, too.
    const later = entities.map((entity, at) =>
      changed.includes(at + 1) ? { ...entity, detail: 'reads new.md' } : entity,
    );
    daemon.live = later;
    daemon.snapshot = { ...daemon.snapshot, entities: later.slice(0, 96) };
    for (const number of changed) {
      daemon.emit(anEvent(number, 'tool_use', { tool_use_id: 'a', name: 'read_file', input: { path: '/new.md' } }));
    }
    await waitFor(async () => (await page.locator('td.now', { hasText: 'reads new.md' }).count()) === 2);
    expect(await page.evaluate('[...touched].sort()')).toEqual([runId(3), runId(480)]);
  });

  test('a login that ends takes the picture with it', async () => {
    const { office, until, page } = await visit(await aDaemon());
    await until('Plot the sales of quarter 1');
    office.cookies.clear();
    office.cut();
    await until(/Your login has ended/);
    expect(await page.content()).not.toContain('Plot the sales');
  });

  test('a page that nobody sees follows nothing, and is there at once when it is seen again', {
    tags: ['G25'],
  }, async () => {
    const daemon = await aDaemon();
    const { office, until, page } = await visit(daemon);
    await until(/● live/);
    const setHidden = (hidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange')); ${hidden ? "document.dispatchEvent(new Event('freeze'))" : ''}`,
      );
    await setHidden(true);
    await waitFor(() => office.streams() === 0);
    daemon.snapshot = aSnapshot([anEntity(1, { detail: 'reads while.md' }), anEntity(2)]);
    await setHidden(false);
    await until('reads while.md');
    await until('Plot the sales of quarter 2');
    await waitFor(() => office.streams() === 1);
  });

  test('rows keep their elements while others come, go and change, and the focus stays', async () => {
    const daemon = await aDaemon(aSnapshot([1, 2, 3, 4, 5].map((at) => anEntity(at))));
    const { page, until } = await visit(daemon);
    await until('quarter 5');
    await page.evaluate('for (const row of document.querySelectorAll("[data-row]")) row.kept = true');
    await page.locator(`[data-row="${runId(3)}"] a`).focus();
    daemon.snapshot = aSnapshot(
      [6, 5, 3, 1].map((at) => anEntity(at, { started_at: new Date(at * 1e6).toISOString() })),
    );
    daemon.emit(anEvent(6, 'run.queued', { schedule_mode: 'immediate' }));
    await until('quarter 6');
    await waitFor(async () => (await page.locator('[data-row]').count()) === 4);
    // The event and the snapshot may come in either order, which decides whether it is queued, and so where it stands.
    const drawn = '[...document.querySelectorAll("[data-row]")].map((row) => [row.dataset.row, row.kept === true])';
    expect(new Map(await page.evaluate<[string, boolean][]>(drawn))).toEqual(
      new Map([1, 3, 5, 6].map((at) => [runId(at), at < 6])),
    );
    expect(await page.evaluate('document.activeElement.closest("tr")?.getAttribute("data-row")')).toBe(runId(3));
  });

  test('teams have their budgets and their last hour, and few of forty are shown', async () => {
    const teams = Array.from({ length: 40 }, (_, at) => aTeam(at + 1, { today_cost_usd: 40 - at }));
    const { page, until } = await visit(await aDaemon(aSnapshot([anEntity(1)], { teams })));
    await until('+34 more');
    expect(await page.locator('.teams tbody tr').count()).toBe(6);
    await page.getByRole('button', { name: '+34 more' }).click();
    await waitFor(async () => (await page.locator('.teams tbody tr').count()) === 40);
    expect(await page.getByRole('img', { name: /tokens in the last hour/ }).count()).toBe(40);
    await page.getByLabel('Team', { exact: true }).selectOption('t7');
    await waitFor(() => page.url().endsWith('?team=t7'));
    await until('Nothing matches');
  });

  test('what agents write at a desk is Markdown, calls are folded, and their changes are shown', async () => {
    const daemon = await aDaemon();
    const own = (type: Parameters<typeof anEvent>[1], payload: object) => daemon.emit(anEvent(1, type, payload));
    own('run.started', { attempt: 1, model: 'm' });
    own('content_block_delta', {
      index: 0,
      delta: { type: 'text_delta', text: '# Plan\n\n- **one**\n- <b onclick=x>two</b>\n\n' },
    });
    own('tool_use', {
      tool_use_id: 'e',
      name: 'edit_file',
      input: { path: '/a.ts', old_text: 'let a;', new_text: 'const a = 1;' },
    });
    own('tool_result', { tool_use_id: 'e', ok: true, output: 'Replaced.', duration_ms: 12 });
    own('tool_use', { tool_use_id: 'f', name: 'shell', input: { command: 'false' } });
    own('tool_result', { tool_use_id: 'f', ok: false, output: 'It failed <badly>.', duration_ms: 7 });
    const { page, until, complaints } = await visit(daemon, { place: `/sessions/${sessionId(1)}` });
    await until('edits a.ts');
    expect(await page.locator('.said strong').innerText()).toBe('one');
    expect(await page.locator('.said li').allInnerTexts()).toEqual(['one', '<b onclick=x>two</b>']);
    expect(await page.locator('.diff').count()).toBe(0);
    await until('It failed <badly>.');
    await page.getByText('edits a.ts').click();
    expect(await page.locator('.diff .removed').innerText()).toBe('- let a;');
    expect(await page.locator('.diff .added').innerText()).toBe('+ const a = 1;');
    own('content_block_delta', {
      index: 0,
      delta: { type: 'text_delta', text: '[x](javascript:alert(1)) and [y](https://a.example/)' },
    });
    await until('and y');
    expect(
      await page
        .locator('.said a')
        .evaluateAll((links: { getAttribute(name: string): string }[]) =>
          links.map((link) => link.getAttribute('href')),
        ),
    ).toEqual(['https://a.example/']);
    expect(complaints).toEqual([]);
  });

  test('a tab that stays open stays small', async () => {
    const daemon = await aDaemon(aSnapshot([1, 2, 3].map((at) => anEntity(at))));
    const { page, until } = await visit(daemon, { place: `/sessions/${sessionId(1)}` });
    await until(/● live/);
    const say = async (count: number, last: string) => {
      for (let at = 0; at < count; at += 1) {
        daemon.emit(
          anEvent(1, 'content_block_delta', {
            index: 0,
            delta: { type: 'text_delta', text: `line ${at} of what is written\n\n` },
          }),
        );
        if (at % 500 === 0) await new Promise(setImmediate);
      }
      daemon.emit(anEvent(1, 'content_block_delta', { index: 0, delta: { type: 'text_delta', text: `${last}\n\n` } }));
      await until(last);
    };
    const client = await page.context().newCDPSession(page);
    const measured = async () => {
      await client.send('HeapProfiler.collectGarbage');
      const { metrics } = await client.send('Performance.getMetrics');
      const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
      return { nodes: of('Nodes'), listeners: of('JSEventListeners'), heap: of('JSHeapUsedSize') };
    };
    await client.send('Performance.enable');
    await say(7000, 'full');
    const before = await measured();
    await say(7000, 'fuller');
    const after = await measured();
    expect(after.nodes).toBeLessThan(before.nodes * 1.2);
    expect(after.listeners).toBeLessThan(before.listeners * 1.2);
    expect(after.heap).toBeLessThan(before.heap * 1.3);
  });
});
