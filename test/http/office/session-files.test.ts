// The context, the workspace and the pictures of a session, as administrators read them (§2.14, §4.8).
import { beforeEach, describe, expect, test } from 'vitest';
import { MODEL, type OfficeSessions, officeSessions } from '../../support/http/office-sessions.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { aStep, fenceOf } from '../../support/store/store-fixture.ts';

let at: OfficeSessions;
beforeEach(async () => {
  at = await officeSessions();
});

describe('the context', () => {
  const of = ({ sessionId }: { readonly sessionId: string }) => at.data(`/sessions/${sessionId}/context-usage`);

  test('is that of the last model call, and its parts add up', { tags: ['G7'] }, async () => {
    const first = await at.finished();
    const second = await at.working(first);
    await at.rows.accept({ sessionId: first.sessionId });
    const context = { system: 300, history: 1_250, tools: 73 };
    await at.rows.store.runs.recordStep(fenceOf(second), aStep({ step: 2, context }), MODEL);
    expect(await of(first)).toEqual({
      session_id: first.sessionId,
      model: 'scripted',
      context_window: 8_192,
      used_tokens: 1_623,
      used_percent: 19.8,
      parts: context,
    });
  });

  test('is empty before the first call', async () => {
    const run = await at.rows.begin();
    const parts = { system: 0, history: 0, tools: 0 };
    const nothing = { model: null, context_window: null, used_tokens: 0, used_percent: 0, parts };
    expect(await of(run)).toEqual({ session_id: run.sessionId, ...nothing });
  });

  test('of a call that an earlier Errand kept is history', async () => {
    const run = await at.rows.begin();
    await at.rows.store.runs.recordStep(fenceOf(run), aStep({ context: { system: 0, history: 0, tools: 0 } }), MODEL);
    expect(await of(run)).toMatchObject({ used_tokens: 10, parts: { system: 0, history: 10, tools: 0 } });
  });

  test('of a model that the catalog no longer has has no window', async () => {
    at.models.clear();
    expect(await of(await at.finished())).toMatchObject({ model: 'scripted', context_window: null, used_percent: 0 });
  });
});

describe('the workspace', () => {
  test('is empty and has no archive until its export is ready', { tags: ['G19'] }, async () => {
    const run = await at.finished();
    expect(await at.data(`/sessions/${run.sessionId}/workspace/files`)).toEqual([]);
    const filename = `workspace-${run.sessionId}.zip`;
    expect((await at.get(`/sessions/${run.sessionId}/workspace/archive`)).json).toEqual({
      code: 0,
      message: 'The workspace export is not ready.',
      data: { url: null, filename },
    });
    await at.collected(run);
    const [folder] = (await at.data(`/sessions/${run.sessionId}/workspace/files`)) as { children: object[] }[];
    expect(folder).toMatchObject({ name: 'site', type: 'folder', path: '/site', oss_status: null, oss_meta: null });
    expect(folder!.children).toMatchObject([
      {
        name: 'a.txt',
        type: 'file',
        path: '/site/a.txt',
        children: null,
        mimeType: 'text/plain',
        oss_status: null,
        oss_meta: { size: 5 },
      },
    ]);
    const ready = await at.get(`/sessions/${run.sessionId}/workspace/archive`);
    const { url } = (ready.json as { data: { url: string } }).data;
    expect(ready.json).toEqual({ code: 0, message: 'ok', data: { url, filename } });
    expect(at.addresses.verify(url.slice('http://errand'.length))).toMatchObject({ name: filename });
    const { downloadUrl } = folder!.children[0] as { downloadUrl: string };
    const { key } = at.addresses.verify(downloadUrl.slice('http://errand'.length));
    expect((await at.rows.blobs.read(key)).toString()).toBe('hello');
  });

  test('of a session that never ran is the same', async () => {
    const { sessionId } = await at.rows.accept();
    expect(await at.data(`/sessions/${sessionId}/workspace/files`)).toEqual([]);
    expect(await at.data(`/sessions/${sessionId}/workspace/archive`)).toMatchObject({ url: null });
  });
});

describe('pictures of the browser', () => {
  const keep = async (run: ClaimedRun, toolUseId: string, bytes: string, mimeType = 'image/png') => {
    const hold = at.rows.blobs.hold();
    const sha256 = await hold.put(Buffer.from(bytes));
    await at.rows.store.screenshots.keep(fenceOf(run), { toolUseId, sha256, mimeType, size: bytes.length });
    hold.release();
  };

  test('are found by tool use, the newest of the session, and lead to their bytes', {
    tags: ['G7', 'G19'],
  }, async () => {
    const first = await at.rows.begin();
    await keep(first, 'call-1_A', 'old');
    await at.rows.end(first);
    const second = await at.rows.begin(first.sessionId);
    await keep(second, 'call-1_A', 'new', 'image/jpeg');
    const other = await at.rows.begin();
    await keep(other, 'call-1_A', 'of another session');
    const picture = await at.data(`/sessions/${first.sessionId}/computer/browser/call-1_A`);
    const { url } = picture as { url: string };
    expect(picture).toEqual({ url, filename: 'call-1_A.jpg' });
    const grant = at.addresses.verify(url.slice('http://errand'.length));
    expect(grant).toMatchObject({ name: 'call-1_A.jpg', disposition: 'inline', sessionId: first.sessionId });
    expect((await at.rows.blobs.read(grant.key)).toString()).toBe('new');
  });

  test.each(['none', 'a.b', 'a%2Fb', 'a%20b', '%C3%BC', '..%2f..', "a'b"])('%s is not found', async (id) => {
    const run = await at.rows.begin();
    await keep(run, 'a.b', 'picture');
    expect((await at.get(`/sessions/${run.sessionId}/computer/browser/${id}`)).status).toBe(404);
  });
});
