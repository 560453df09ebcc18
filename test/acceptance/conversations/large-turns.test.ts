// Many turns with long texts at once: as many as one thread has memory for are in progress, and other runs do not wait for
// them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer({ record: false });
  daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: 'workers: { threads: 1, runs_per_thread: 16, memory_mb: 128 }\nstreams: { drain_seconds: 1 }\n',
  });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

/** 1.2 MB beyond a share of 1 MB: with a share for its history it weighs 2.2 of 16 MB. One character makes all of it wide. */
const LONG = `${'word '.repeat(1_258_291 / 5)}…`;
const AT_ONCE = 7;
const COUNT = 20;

test('long texts wait for room in memory; small turns, stops and a drain do not wait for them', async () => {
  let isOpen = false;
  /** The long texts that the model was asked, by how they begin. */
  const asked = new Set<string>();
  model.script(({ userText }) => {
    const name = /^long \d+/.exec(userText)?.[0];
    if (name !== undefined) asked.add(name);
    return isOpen || name === undefined ? { text: 'Done.' } : { hang: 'after-headers' };
  });
  const turn = (content: string) => takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content });
  const long = Array.from({ length: COUNT }, (_, n) => turn(`long ${n} ${LONG}`).catch(() => null));
  const ids = (condition: string) =>
    rowsOf<{ id: string; session: string; title: string }>(
      daemon,
      `SELECT r.id, s.id AS session, s.title FROM runs r JOIN sessions s ON s.seq = r.session_seq WHERE ${condition} ORDER BY r.seq`,
    );
  await waitFor(() => model.inFlight() === AT_ONCE && ids("r.status = 'running'").length === COUNT);
  expect(await turn('short')).toMatchObject({ status: 200, text: 'Done.' });
  expect(model.inFlight()).toBe(AT_ONCE);

  const waiting = ids("r.status = 'running'").filter(({ title }) => !asked.has(/^long \d+/.exec(title)![0]));
  expect(waiting).toHaveLength(COUNT - AT_ONCE);
  const stopped = await fetch(`${daemon.url}/openapi/v1/sessions/${waiting[0]!.session}/stop`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.apiKey}` },
  });
  // The reply does not wait for it longer than five seconds.
  expect(['stopped', 'stopping']).toContain(((await stopped.json()) as { stop_state: string }).stop_state);
  const confirmed = 'SELECT 1 FROM sessions WHERE id = ? AND stop_confirmed_at IS NOT NULL';
  await waitFor(() => rowsOf(daemon, confirmed, waiting[0]!.session).length === 1, { what: 'its run has left' });

  expect(await daemon.stop()).toMatchObject({ code: 0 });
  expect(ids("r.status = 'queued' AND resumes = 0")).toHaveLength(COUNT - 1);
  isOpen = true;
  await daemon.restart();
  await waitFor(() => ids("r.status = 'completed'").length === COUNT);
  expect(ids('resumes > 0')).toEqual([]);
  await Promise.all(long);
});
