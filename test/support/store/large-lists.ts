// Lists as long as one page may be, with the longest texts that their fields may have, put into the database of a stopped daemon.
import { randomUUID } from 'node:crypto';
import { randomCode } from '../../../src/domain/ids.ts';
import { WEBHOOK_EVENT_TYPES } from '../../../src/domain/webhooks/webhook.ts';
import type { LargeRows } from './large-store.ts';

/** The longest page of a list. */
export const LONGEST_PAGE = 500;

/** A text that is longer in bytes, and as JSON, than in characters. */
const textOf = (characters: number) => '語"'.repeat(characters / 2);
const NAME = textOf(200);
const AT = Date.now();

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

/** Makes them. */
export function makeLargeLists(rows: LargeRows) {
  const { insert, session, run, whole, owned } = rows;
  const { user_seq } = owned;
  return {
    webhooks: () =>
      whole(() => {
        const events = JSON.stringify(WEBHOOK_EVENT_TYPES);
        const url = `https://receiver.example/${'x'.repeat(2_000)}`;
        const tries = { timeout_ms: 1_000, retry_count: 0, retry_backoff_ms: 1_000, failures: 9 };
        const states = { enabled: 0, disabled_reason: textOf(500), ...rows.times };
        const [id] = times(LONGEST_PAGE, () =>
          insert('webhooks', { user_seq, name: NAME, url, events, ...tries, ...states }),
        );
        for (let index = 0; index < LONGEST_PAGE; index += 1) {
          const event = { event_id: randomUUID(), event_type: 'session.completed', is_test: 0 };
          const end = { state: 'failed', attempt_count: 9, attempts_left: 0, last_status_code: 500, ended_at: AT };
          const texts = { last_error: textOf(500), body: textOf(20_000) };
          insert('webhook_deliveries', {
            webhook_id: id!,
            owner: user_seq,
            ...event,
            ...end,
            ...texts,
            created_at: AT,
          });
        }
        return { webhookId: id! };
      }),

    /** Tasks with the longest prompts, and one that fired often. */
    tasks: () =>
      whole(() => {
        const steps = times(20, () => ({ id: randomUUID(), prompt: textOf(10_000) }));
        const often = { cron: '* * * * *', timezone: 'Europe/Berlin', target: 'free', overlap: 'skip', counted_at: AT };
        const [task] = times(50, () => {
          const id = randomUUID();
          const seq = insert('scheduled_tasks', { id, user_seq, name: NAME, enabled: 0, ...often, ...rows.times });
          insert('task_plans', { task_seq: seq, prompt: null, steps: JSON.stringify(steps) });
          return { id, seq };
        });
        for (let index = 0; index < LONGEST_PAGE; index += 1) {
          const { seq: session_seq } = session();
          const { seq: run_seq } = run(session_seq, {
            error: JSON.stringify({ code: 'failed', message: textOf(2_000) }),
          });
          const fired = { task_seq: task!.seq, session_seq, run_seq, trigger: 'clock', due_at: AT + index };
          insert('firings', { ...fired, status: 'failed', step_no: 1, step_count: 1, created_at: AT, ended_at: AT });
        }
        return { taskId: task!.id };
      }),

    /** Pages, and one of them with as many versions. */
    pages: () =>
      whole(() => {
        const { seq: session_seq } = session();
        const entry_path = `/${textOf(1_000)}`;
        const place = { user_seq, session_seq, entry_path };
        const tags = JSON.stringify(times(20, (index) => `${textOf(48)}${index}`));
        const named = { name: NAME, search_name: NAME, description: textOf(2_000), category: textOf(50), tags };
        const flags = { origin: 'existing_session', is_on_board: 0, is_distraction_free: 0, open_versions: 1 };
        const file = { path: entry_path, size: 1, sha256: 'f'.repeat(64) };
        const kind = { share_type: 'page', trigger_type: 'manual', reason: textOf(500), file_count: 1, total_size: 1 };
        const version = (page_id: number, no: number) => {
          const published = { page_id, no, share_code: randomCode(22), published_at: AT, is_open: 1 };
          insert('publish_files', {
            version_seq: insert('publish_versions', { ...place, ...kind, ...published }),
            ...file,
          });
        };
        const [page] = times(LONGEST_PAGE, () => {
          const key = randomCode(16);
          const id = insert('publish_pages', {
            key,
            ...place,
            ...named,
            ...flags,
            latest_published_at: AT,
            ...rows.times,
          });
          version(id, 1);
          return { key, id };
        });
        for (let no = 2; no <= LONGEST_PAGE; no += 1) version(page!.id, no);
        return { pageKey: page!.key };
      }),

    /** What agents asked and reported, and its users answered. */
    questions: () =>
      whole(() => {
        const { id, seq: session_seq } = session();
        const input = JSON.stringify({
          question: textOf(4_000),
          options: times(10, (index) => `${textOf(198)}${index}`),
        });
        // 64 KB, the most that an answer may have.
        const answers = JSON.stringify(textOf(26_000));
        for (let index = 0; index < LONGEST_PAGE; index += 1) {
          const { seq: run_seq } = run(session_seq);
          const place = { id: randomUUID(), session_seq, run_seq, user_seq, tool_use_id: 't1' };
          const asked = { tool_name: 'ask_user', tool_input: input, created_at: AT, expires_at: AT };
          insert('user_inputs', { ...place, ...asked, status: 'answered', answers, answered_at: AT });
          const reported = { title: NAME, summary: textOf(4_000), priority: 'high', status: 'new', ...rows.times };
          insert('insights', { ...place, id: randomUUID(), ...reported });
        }
        return { sessionId: id };
      }),

    audit: () =>
      whole(() => {
        const actor = { user_id: randomUUID(), username: NAME, via: 'key', key_id: 'k'.repeat(8), address: '::1' };
        const target = { action: 'webhook.list', target_type: 'webhook', target_id: textOf(256) };
        // Before those that the daemon writes.
        for (let index = 0; index < LONGEST_PAGE; index += 1)
          insert('audit_entries', { at: AT, ...actor, ...target, request_id: randomUUID(), hash: 'f'.repeat(64) });
      }),

    /** A run with as many spans as a time line shows. */
    timeline: (spans: number) =>
      whole(() => {
        const { id: sessionId, seq: session_seq } = session();
        const { id: runId, seq: run_seq } = run(session_seq);
        const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0, cost_usd: 1 };
        const waits = { tries: 1, commit_wait_ms: 1, budget_wait_ms: 1, permit_wait_ms: 1, retry_wait_ms: 1 };
        const result = { name: 'shell', ok: true, output: textOf(1_000), durationMs: 1 };
        for (let step = 1; step <= spans; step += 1) {
          const created_at = Date.now() + step;
          const call = { tool_use_id: `t${step}`, name: 'shell', input: '{}', state: 'ended', ok: 1, output: '' };
          insert('steps', {
            run_seq,
            step,
            attempt: 1,
            kind: 'final',
            message: 'null',
            text: '',
            ...stepUsage,
            created_at,
          });
          insert('tool_calls', { run_seq, step, position: 0, ...call, duration_ms: 1, created_at });
          const payload = JSON.stringify({ toolUseId: `t${step}`, ...result });
          insert('events', { session_seq, run_seq, stream_seq: step, type: 'tool_result', payload, created_at });
          const asked = { session_seq, run_seq, user_seq, model: 'm', purpose: 'reply', step, first_token_ms: 1 };
          insert('usage_records', { at: created_at, ...asked, ...usage, ...waits, duration_ms: 1 });
        }
        return { sessionId, runId };
      }),

    /** A session with so many results that had a schema, as events. */
    results: (count: number, text: string) =>
      whole(() => {
        const { id: sessionId, seq: session_seq } = session();
        const { seq: run_seq } = run(session_seq);
        const said = { messageId: 1, role: 'assistant', textPreview: '', usage: {}, structuredOutput: { text } };
        for (let stream_seq = 1; stream_seq <= count; stream_seq += 1) {
          const payload = JSON.stringify(said);
          insert('events', { session_seq, run_seq, stream_seq, type: 'message', payload, created_at: AT });
        }
        return { sessionId };
      }),
  };
}

const stepUsage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
