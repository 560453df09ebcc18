// How long and how often the benchmark measures: in full, or quickly.

/** Figures of one server by name; a case that a server does not have is missing. */
export type Figures = Record<string, number>;

/** How long and how often. */
export interface Scale {
  /** Warm-up before every measurement of processor time: this many runs or this long, whichever comes first. */
  readonly warmRuns: number;
  readonly warmMs: number;
  readonly single: number;
  readonly loadMs: number;
  /** Processor time under load is the least of so many windows: what else the machine does only ever adds to it. */
  readonly windows: number;
  readonly windowMs: number;
  /** How long a server is loaded before each window, unmeasured. */
  readonly leadMs: number;
  readonly streams: number;
  /** The starts of paced streams are spread over this. */
  readonly rampMs: number;
  /** How long all the paced streams are then watched. */
  readonly pacedMs: number;
  /** Rounds of paced streams for each server. */
  readonly pacedRounds: number;
  readonly idleMs: number;
  /** How long watchers of live sessions are measured. */
  readonly watchMs: number;
  /** How long the terminal view is measured at each rate. */
  readonly viewMs: number;
  readonly starts: number;
  readonly sessions: number;
  /** Background runs that wait, in the cases of the queue. */
  readonly queued: number;
  /** How long a number of clients submit runs. */
  readonly submitMs: number;
  /** Files of a workspace, and of a crowded one. */
  readonly files: number;
  readonly crowd: number;
  /** The size of the file that is packed and sent. */
  readonly packedMb: number;
  /** How long a tenant is watched without the worst inputs, and then with them. */
  readonly stormMs: number;
}

export const FULL: Scale = {
  warmRuns: 3_000,
  warmMs: 6_000,
  single: 300,
  loadMs: 5_000,
  windows: 6,
  windowMs: 2_000,
  leadMs: 1_500,
  streams: 200,
  rampMs: 1_000,
  pacedMs: 3_000,
  pacedRounds: 5,
  idleMs: 7_500,
  watchMs: 15_000,
  viewMs: 120_000,
  starts: 5,
  sessions: 100_000,
  queued: 10_000,
  submitMs: 3_000,
  files: 10_000,
  crowd: 30_000,
  packedMb: 1_024,
  stormMs: 120_000,
};
export const QUICK: Scale = {
  warmRuns: 200,
  warmMs: 500,
  single: 50,
  loadMs: 800,
  windows: 4,
  windowMs: 800,
  leadMs: 500,
  streams: 200,
  rampMs: 500,
  pacedMs: 700,
  pacedRounds: 3,
  idleMs: 2_000,
  watchMs: 5_000,
  viewMs: 10_000,
  starts: 2,
  sessions: 5_000,
  queued: 1_000,
  submitMs: 500,
  files: 2_000,
  crowd: 5_000,
  packedMb: 64,
  stormMs: 20_000,
};
