// What a team used in the last hour, from what the view has seen and from what the daemon kept.
import { describe, expect, test } from 'vitest';
import { hasGaps } from '../../../src/tui/state/flow.ts';
import { reduce } from '../../../src/tui/state/reduce.ts';
import { floor } from '../../../src/tui/state/screens.ts';
import { type AppState, initialState } from '../../../src/tui/state/state.ts';
import { aSnapshot, AT, aTeam } from '../../support/http/office-server.ts';

const fresh = () => initialState({ tz: 'UTC', intervalMs: 5000 }, [floor()], AT);

const totalAt = (state: AppState, total: number, at: number, generatedAt = at) => {
  const teams = [aTeam(1, { today_total_tokens: total })];
  const snapshot = aSnapshot([], { teams, generated_at: new Date(generatedAt).toISOString() });
  return reduce(state, { type: 'snapshot', snapshot, queue: null, limit: 96, at });
};
const filled = (state: AppState, ...steps: readonly (readonly [minute: number, tokens: number])[]) => {
  const wire = steps.map(([minute, total]) => ({
    started_at: new Date(AT + minute * 60_000).toISOString(),
    total_tokens: total,
    total_cost_usd: 0,
  }));
  const lastHour = {
    generated_at: new Date(AT).toISOString(),
    step_seconds: 900,
    teams: [{ id: 't1', steps: wire }],
  };
  return reduce(state, { type: 'last-hour', lastHour });
};
const minutesOf = (state: AppState) => state.office.flows.get('t1')!.minutes;
const times = <T>(length: number, value: T) => Array.from({ length }, () => value);

test('the last hour of a team grows by what came between two snapshots, and outlives the turn of its day', () => {
  let state = fresh();
  for (const [total, minute] of [
    [100, 0],
    [150, 0],
    [170, 2],
    [30, 3],
  ] as const) {
    state = totalAt(state, total, AT + minute * 60_000);
  }
  expect(minutesOf(state).slice(-5)).toEqual([null, 50, 0, 20, 30]);
});

describe('the last hour of a team that was not watched', () => {
  test('is spread evenly over each quarter of an hour', () => {
    const state = filled(totalAt(fresh(), 1000, AT + 5 * 60_000), [-60, 150], [-30, 300], [0, 50]);
    // The hour begins in the sixth minute after its first step did, and the minute at which it is read counts by itself.
    expect(minutesOf(state)).toEqual([
      ...times(9, 10),
      ...times(15, 0),
      ...times(15, 20),
      ...times(15, 0),
      ...times(5, 10),
      0,
    ]);
  });

  test('after a gap, is what a quarter has beyond the minutes that were watched', () => {
    let state = filled(totalAt(fresh(), 1000, AT));
    for (const [minute, total] of [
      [1, 1100],
      [2, 1300],
      [12, 1900],
    ] as const)
      state = totalAt(state, total, AT + minute * 60_000);
    expect(minutesOf(state).slice(-13)).toEqual([0, 100, 200, ...times(9, null), 0]);
    expect(hasGaps(state.office.flows.get('t1')!)).toBe(true);
    state = filled(state, [0, 900]);
    expect(minutesOf(state).slice(-13)).toEqual([0, 100, 200, ...times(9, 600 / 9), 0]);
    expect(hasGaps(state.office.flows.get('t1')!)).toBe(false);
    expect(minutesOf(totalAt(state, 1950, AT + 13 * 60_000)).at(-1)).toBe(50);
  });

  test('is placed by the clock of this machine, however the clock of the daemon is set', () => {
    const state = filled(totalAt(fresh(), 0, AT, AT + 90 * 60_000), [60, 150]);
    expect(minutesOf(state)).toEqual([...times(29, 0), ...times(15, 10), ...times(15, 0), 0]);
  });

  test('is nothing for a team that used nothing, and no team is made of one that is unknown', () => {
    const state = totalAt(fresh(), 0, AT);
    const lastHour = { generated_at: '', step_seconds: 900, teams: [{ id: 'gone', steps: [] }] };
    const { flows } = reduce(state, { type: 'last-hour', lastHour }).office;
    expect([...flows].map(([id, { minutes }]) => [id, minutes])).toEqual([['t1', times(60, 0)]]);
  });
});
