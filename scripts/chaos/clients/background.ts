// Background runs in a storm: submitted by persistent clients around the kills, then looked up by their keys.
import {
  type BackgroundTarget,
  collectAll,
  submitAll,
  type Submission,
} from '../../../test/support/daemon/background-load.ts';
import { makeChance } from '../../../src/selftest/storm/chance.ts';
import { type PlanRules, wordsOf } from '../model/plan.ts';
import type { Storm, Subject } from '../subject.ts';

const AT_ONCE = 24;
const LONGEST_PAUSE_MS = 1_500;
/** Submissions per kill. */
const SUBMISSIONS_A_KILL = 15;

export interface BackgroundStorm {
  readonly rules: PlanRules;
  readonly subject: Pick<Subject, 'blow'>;
  readonly targets: readonly BackgroundTarget[];
  readonly count: number;
  report(words: string): void;
}

interface BackgroundWeather {
  readonly submissions: readonly Submission[];
  readonly storm: Storm;
  readonly kills: number;
  readonly stormMs: number;
  readonly calmMs: number;
}

/** Submits `count` runs while the daemon is killed repeatedly; then replays each key until its run has ended. */
export async function stormBackground(request: BackgroundStorm): Promise<BackgroundWeather> {
  const { rules, subject, targets, count, report } = request;
  const startedAt = performance.now();
  const kills = Math.ceil(count / SUBMISSIONS_A_KILL);
  const submitting = submitAll({
    targets,
    count,
    atOnce: AT_ONCE,
    wordsOf,
    pauseMs: (number) => makeChance(rules.seed + number).between(0, LONGEST_PAUSE_MS),
  });
  const storm = await subject.blow({
    kills,
    seed: rules.seed,
    marker: rules.marker,
    report: (kill) => {
      if (kill % 10 === 0) report(`${kill} of ${kills} kills`);
    },
  });
  const stormedAt = performance.now();
  const submissions = await submitting;
  report('all are submitted; now each key is polled for its run');
  await collectAll(submissions, AT_ONCE);
  return {
    submissions,
    storm,
    kills,
    stormMs: stormedAt - startedAt,
    calmMs: performance.now() - stormedAt,
  };
}

/** The figures of the clients, one per line. */
export function renderSubmissions(submissions: readonly Submission[]): string {
  const sum = (of: (submission: Submission) => number) => submissions.reduce((total, one) => total + of(one), 0);
  const rows = [
    ['submissions', submissions.length],
    ['  answers lost on the way', sum(({ lost }) => lost)],
    ['  refused for want of a place', sum(({ refused }) => refused)],
    ...[...Map.groupBy(submissions, ({ end }) => end)].map(([end, own]) => [`  ${end}`, own.length] as const),
  ] as const;
  return rows.map(([label, value]) => `${label.padEnd(31)}  ${String(value).padStart(8)}`).join('\n');
}
