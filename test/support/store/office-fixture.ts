// A store with teams and people whose agents work, for the scenarios of Office Mode.
import type { Run } from '../../../src/domain/sessions/run.ts';
import { dayStartQuarter } from '../../../src/domain/time-zone.ts';
import type { Usage } from '../../../src/domain/sessions/usage.ts';
import type { ApiKey, User } from '../../../src/domain/people/user.ts';
import { openRows } from './open-store.ts';
import type { Transaction } from '../../../src/store/engine/statement.ts';
import { recordCall } from '../../../src/store/budgets/record-usage.ts';
import type { TodayQuery } from '../../../src/store/office/today.ts';
import { aTask } from './schedules.ts';
import { aSpentCall, aStep, fenceOf, FREE, storeFixture } from './store-fixture.ts';

export interface Person {
  readonly user: User;
  readonly key: ApiKey;
}

export interface Work {
  readonly who: Person;
  /** Null: a session of its own. */
  readonly in?: Run;
  /** Whether a scheduled task runs it. */
  readonly scheduled?: boolean;
  /** Model calls; each takes `TOKENS`. */
  readonly calls?: number;
  /** Whether it is left running. */
  readonly goesOn?: boolean;
}

/** Of each call. */
export const TOKENS = 110;
const USAGE: Usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 };
export const COST = 0.000_1;
const MODEL = { ...FREE, price: { ...FREE.price, inputPerMillionUsd: 1 } };

export async function officeFixture(at = '2026-03-10T12:00:00Z') {
  const fixture = await storeFixture();
  const { store, clock } = fixture;
  clock.jump(Date.parse(at) - clock.now());
  let people = 0;

  const team = async (name: string) => (await store.teams.create({ name, budgetUsd: 100 })).id;

  async function person(username: string, teamId: string | null = null): Promise<Person> {
    people += 1;
    const nobody = { department: '', functionalRole: null, scenario: null, passwordHash: 'x' };
    const user = await store.users.create({ ...nobody, username, fullName: '', role: 'user', teamId });
    const named = { name: '', scope: 'global' as const, lastFour: 'abcd', secretSha256: Buffer.alloc(32) };
    const rest = { model: null, target: 'free', projectId: null, expiresAt: null };
    return { user, key: await store.keys.create({ id: `person0${people}`, userSeq: user.seq, ...named, ...rest }) };
  }

  /** Changes rows as no verb does. */
  async function change(sql: string, ...values: (string | number)[]): Promise<void> {
    const database = openRows(fixture.file, clock);
    await database.write((tx: Transaction) => tx.run(sql, ...values))();
    await database.close();
  }

  /** A run becomes one of a task's, though a key opened its session, so that a session may have runs of both sources. */
  async function schedule(run: Run): Promise<void> {
    const task = await store.schedules.create(aTask(run.userSeq, { cron: '0 0 1 1 *' }));
    await change("UPDATE runs SET schedule_mode = 'scheduled' WHERE seq = ?", run.seq);
    await change(
      `INSERT INTO firings (task_seq, session_seq, plan_seq, trigger, due_at, status, step_no, step_count, run_seq,
         created_at) SELECT ?, ?, max(seq), 'manual', 0, 'pending', 1, 1, ?, 0 FROM task_plans`,
      task.seq,
      run.sessionSeq,
      run.seq,
    );
    await change(
      'INSERT INTO scheduled_runs (run_seq, firing_id, step_id) SELECT ?, max(id), ? FROM firings',
      run.seq,
      task.steps[0]!.id,
    );
  }

  /** Accepts a run, and has its agent call the model and end. */
  async function work({ who, in: earlier, scheduled = false, calls = 1, goesOn = false }: Work): Promise<Run> {
    const run = await fixture.accept({ ...who, sessionId: earlier?.sessionId ?? null });
    if (scheduled) await schedule(run);
    const claimed = (await fixture.claim(99)).find(({ seq }) => seq === run.seq)!;
    for (let step = 1; step <= calls; step += 1) {
      await store.runs.recordStep(fenceOf(claimed), aStep({ step, usage: USAGE }), MODEL);
    }
    if (!goesOn) await end(claimed);
    return run;
  }

  async function end(run: { readonly sessionSeq: number; readonly seq: number; readonly attempt?: number }) {
    const fence = { sessionSeq: run.sessionSeq, runSeq: run.seq, attempt: run.attempt ?? 1, workedMs: 0 };
    await store.runs.finalize(fence, { outcome: 'completed', answer: '', stopReason: 'end_turn' });
    await store.runs.settle(fence);
  }

  /** A call of a running run that isn't one of its steps. */
  async function callOf(run: Run): Promise<void> {
    const fence = { sessionSeq: run.sessionSeq, runSeq: run.seq, attempt: 1, workedMs: 0 };
    if (!(await store.runs.recordSpent(fence, aSpentCall(USAGE), MODEL))) throw new Error('The run is not running.');
  }

  /** A call that belongs to a session, and to none of its runs. */
  async function callWithoutRun({ sessionSeq }: Pick<Run, 'sessionSeq'>): Promise<void> {
    const database = openRows(fixture.file, clock);
    const call = { sessionSeq, model: 'scripted', usage: USAGE, costUsd: COST, run: null };
    await database.write(recordCall)(call);
    await database.close();
  }

  const since = (timeZone = 'UTC') => dayStartQuarter(clock.now(), timeZone);

  return {
    ...fixture,
    team,
    person,
    change,
    work,
    end,
    callOf,
    callWithoutRun,
    delete: (run: Run) => store.sessions.deleteSession(run.sessionSeq),
    join: (who: Person, teamId: string | null) => store.users.change(who.user.username, { teamId }),
    snapshot: (timeZone?: string, limit = 96) => store.office.getSnapshot({ limit, since: since(timeZone) }),
    today: (query: Partial<TodayQuery> = {}, timeZone?: string) =>
      store.office.listToday({ team: null, source: null, since: since(timeZone), limit: 50, offset: 0, ...query }),
  };
}

export type OfficeFixture = Awaited<ReturnType<typeof officeFixture>>;
